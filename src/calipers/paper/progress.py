"""A bar that a fit moves forward, through scikit-learn's callback protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task, TaskID

_ROUNDING = 1e-9  # of a sum of parts


class FitAdvance:
    """Callback that reports the finished parts of a fit; together they make 1.

    It follows `sklearn.callback.FitCallback`. A leaf of the tree of tasks counts as the
    product of its share and those of the tasks above it: ``1 / max_subtasks``, or what the fit
    around it says of the fits inside (`selection.Fits`). What ends with fewer leaves than it
    might have had, such as a fit that converged, counts as the rest of its share.

    Parameters
    ----------
    report : callable
        Called with 0 when a part begins, and with each part that has just been finished.
    """

    max_propagation_depth = None  # it reaches the steps of fits inside

    def __init__(self, report: Callable[[float], None]) -> None:
        self.report = report
        self._done: dict[int, float] = {}  # what was reported of each task just below the whole

    def setup(self, estimator: Any, context: Any) -> None:
        """Prepare nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Release nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Report that a leaf begins."""
        if context.parent is None:
            self._done.clear()
        elif context.max_subtasks == 0 and _part(context):
            self.report(0.0)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Report a finished leaf, where the number of leaves is known, or the rest of a task."""
        if context.parent is None:
            rest = 1.0 - sum(self._done.values())
        else:
            top = context
            while top.parent.parent is not None:
                top = top.parent
            done = self._done.setdefault(top.task_id, 0.0)
            if top is context:
                rest = _part(context) - done
            else:
                rest = _part(context) if context.max_subtasks == 0 else 0.0
            self._done[top.task_id] = done + max(rest, 0.0)
        if rest > _ROUNDING:
            self.report(rest)


def _part(context: Any) -> float:
    """Return how much of the whole fit a task is."""
    part = 1.0
    while context.parent is not None:
        part *= _share(context)
        context = context.parent
    return part


def _share(context: Any) -> float:
    """Return how much of the task around it a task is; 0 where that is not known."""
    around = context.parent
    if hasattr(around, "shares"):
        return float(around.shares.get(context.task_id, 0.0))
    return 1.0 / around.max_subtasks if around.max_subtasks else 0.0


def time_left(seen: Sequence[tuple[float, float]], elapsed: float, total: float) -> str:
    """Return the time that the rest takes at the mean of two paces: so far, and of the second half.

    Parts of a fit need not be alike: the first ones may be fast, or have to prepare the others. The
    second half of the time follows that, and the time so far keeps the estimate from jumping; their
    mean is the geometric one.

    Parameters
    ----------
    seen : sequence of tuple
        Seconds, and what was done by then, which increases; the first are those of the beginning.
    elapsed : float
        Seconds by now.
    total : float
        What is to be done.

    >>> time_left([(0.0, 0.0), (30.0, 0.25)], 30.0, 1.0), time_left([(0.0, 0.0)], 2.0, 1.0)
    ('about 1:30 left', '')
    >>> seen = [(0.0, 0.0), (1.0, 0.5), (5.0, 0.6)]
    >>> time_left(seen, 5.0, 1.0), time_left(seen, 7.0, 1.0)
    ('about 0:07 left', 'about 0:11 left')
    >>> time_left([(9.0, 0.0), (10.0, 0.5)], 10.0, 1.0)
    'about 0:01 left'
    """
    (began, _), (_, done) = seen[0], seen[-1]
    if elapsed <= began or not 0.0 < done < total:
        return ""
    since, before = max(point for point in seen[:-1] if point[0] <= (began + elapsed) / 2)
    pace = sqrt(done / (elapsed - began) * (done - before) / (elapsed - since))
    rest = (total - done) / pace
    minutes, seconds = divmod(max(1, round(rest)), 60)
    return f"about {minutes}:{seconds:02d} left"


class Meter:
    """Steps of an experiment on one bar, and files that it needs on others."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task
        self._done = 0.0
        self._seen = [(0.0, 0.0)]
        self._files: dict[str, TaskID] = {}

    @contextmanager
    def step(self, name: str, *, weight: float = 1.0) -> Iterator[FitAdvance]:
        """Show ``name`` until the step is done.

        Yields a callback for an estimator whose fit is the step.
        """
        self._show(name)
        yield FitAdvance(lambda part: self._advance(weight * part))
        self._done += weight
        self._progress.update(self._task, completed=self._done)
        self._advance(0.0)

    def download(self, file: str, done: int, total: int | None) -> None:
        """Show a file that is being fetched on a bar of its own, for `datasets.require`."""
        if file not in self._files:
            self._files[file] = self._progress.add_task(f"downloading {file}", total=total)
        self._progress.update(self._files[file], completed=done, total=total)
        if done == total:
            self._progress.remove_task(self._files.pop(file))

    def _advance(self, part: float) -> None:
        """Move the bar."""
        self._progress.advance(self._task, part)
        (task,) = (task for task in self._progress.tasks if task.id == self._task)
        now = (task.elapsed or 0.0, task.completed)
        if not task.completed:  # nothing that counts has taken time yet
            self._seen = [now]
        elif task.completed > self._seen[-1][1]:
            self._seen.append(now)

    def left(self, task: Task) -> str:
        """Return the time that is left of the steps; that of files is not told."""
        if task.id != self._task:
            return ""
        return time_left(self._seen, task.elapsed or 0.0, task.total or 0.0)

    def _show(self, text: str) -> None:
        self._progress.update(self._task, description=text, visible=True)


@contextmanager
def meter(total: float, *, console: Console, show: bool = True) -> Iterator[Meter]:
    """Open a bar with an estimate of the time left, for steps that weigh ``total`` together.

    Nothing is shown unless the console is a terminal.
    """
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(bar.left(task))

    columns = (
        TextColumn("{task.description:<28}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeLeft(),
    )
    visible = show and console.is_terminal
    progress = Progress(*columns, console=console, transient=True, disable=not visible)
    bar = Meter(progress, progress.add_task("", total=total, visible=False))
    if not visible:  # until rich 14.3 what is disabled ends with an empty line
        yield bar
        return
    with progress:
        yield bar
