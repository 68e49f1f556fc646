"""The published tables, the progress bar, the demonstration and the tables."""

from __future__ import annotations

import io
import time
from math import isnan
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from calipers import TripletSGD
from calipers.datasets import load
from calipers.experiments import demo, published
from calipers.experiments.progress import FitAdvance, meter
from calipers.experiments.tables import demo_table


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_published_tables_add_up() -> None:
    """Sums of columns, added up from the source of the paper, catch a mistyped digit."""
    assert sum(size.n_train for size in published.SIZES.values()) == 1_651_947
    errors = {m: sum(row[m] for row in published.ERRORS.values()) for m in published.METHODS}
    assert errors["as-sgd"] == pytest.approx(154.7)
    assert errors["euclidean"] == pytest.approx(202.0)
    assert sum(row["hr-sgd"] for row in published.SECONDS.values()) == pytest.approx(478.4)
    assert sum(row["as-sgd"] for row in published.UPDATES.values()) == pytest.approx(251_869.7)
    assert isnan(published.ERRORS["poker"]["lmnn"])


def test_published_tables_cover_the_same_ten_data_sets() -> None:
    tables = (published.ERRORS, published.SECONDS, published.UPDATES)
    assert all(list(table) == list(published.SIZES) for table in tables)


def test_a_download_has_a_bar_while_it_lasts() -> None:
    console = terminal()
    with meter(1, console=console) as bar:
        bar.download("isolet.zip", 250, 1000)
        bar.download("poker.zip", 10, None)
        progress = bar._progress
        tasks = {task.description: task for task in progress.tasks}
        assert tasks["downloading isolet.zip"].percentage == 25
        assert tasks["downloading poker.zip"].total is None
        bar.download("isolet.zip", 1000, 1000)
        assert "downloading isolet.zip" not in {task.description for task in progress.tasks}
        progress.refresh()
    assert "downloading poker.zip" in shown(console)


def test_finished_leaves_of_a_fit_make_one() -> None:
    parts: list[float] = []
    callback = FitAdvance(parts.append)
    root = SimpleNamespace(parent=None, max_subtasks=2)
    branches = [SimpleNamespace(parent=root, max_subtasks=n) for n in (3, 5)]
    for branch in branches:
        for _ in range(branch.max_subtasks):
            callback.on_fit_task_end(None, SimpleNamespace(parent=branch, max_subtasks=0))
        callback.on_fit_task_end(None, branch)
    callback.on_fit_task_end(None, root)
    assert len(parts) == 8
    assert sum(parts) == pytest.approx(1)


def test_a_fit_of_unknown_length_is_not_guessed() -> None:
    root = SimpleNamespace(parent=None, max_subtasks=None)
    parts: list[float] = []
    FitAdvance(parts.append).on_fit_task_end(None, SimpleNamespace(parent=root, max_subtasks=0))
    assert parts == []


def test_the_estimator_drives_the_callback() -> None:
    data = load("iris")
    parts: list[float] = []
    metric = TripletSGD(n_triplets=2_000, random_state=0).set_callbacks(FitAdvance(parts.append))
    metric.fit(data.X_train, data.y_train)
    assert len(parts) > 1
    assert sum(parts) == pytest.approx(1)


def test_the_bar_shows_steps_and_explains_a_slow_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calipers.experiments.progress._SLOW_START", 0.01)
    console = terminal()
    with meter(2, console=console) as bar:
        with bar.step("warming up", if_slow="compiling"):
            time.sleep(0.3)
        with bar.step("second"):
            time.sleep(0.2)
    assert "compiling" in shown(console)
    assert "second" in shown(console)
    assert "50 %" in shown(console)


def test_no_bar_where_nobody_looks() -> None:
    hidden, piped = terminal(), Console(file=io.StringIO())
    for console, show in ((hidden, False), (piped, True)):
        with meter(1, console=console, show=show) as bar, bar.step("only"):
            pass
        assert shown(console) == ""


def test_demo_scores_six_methods_and_draws(tmp_path: Path) -> None:
    with meter(demo.TOTAL_WEIGHT, console=terminal()) as bar:
        result = demo.run(bar, seed=1)
    assert [row.method for row in result.rows] == ["euclidean", *demo.METHODS]
    assert all(0 <= row.error < 10 for row in result.rows)
    assert all(row.updates and row.updates > 0 for row in result.rows[1:])
    assert result.rows[0].updates is None
    figure = demo.picture(result)
    rings = [panel.collections[-1].get_offsets() for panel in figure.axes]
    n_test = len(result.data.y_test)
    for ringed, row in zip(rings, (result.rows[0], result.rows[-1]), strict=True):
        assert 100 * len(np.asarray(ringed)) / n_test == pytest.approx(row.error)
    picture = tmp_path / "picture.png"
    demo.write_picture(figure, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [picture]
    console = Console(file=io.StringIO(), width=100)
    console.print(demo_table(result.rows))
    assert "ha-sgd" in shown(console)


def test_a_picture_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    class Broken:
        def savefig(self, path: Path) -> None:
            path.write_text("half a pic")
            raise OSError("disk full")

    old = tmp_path / "picture.png"
    old.write_text("old")
    with pytest.raises(OSError, match="disk full"):
        demo.write_picture(Broken(), old)  # type: ignore[arg-type]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("picture.png", "old")
    ]


def test_places_where_no_picture_can_go(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder: give the name of a picture file"):
        demo.check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist: create it first"):
        demo.check_writable(tmp_path / "nowhere" / "picture.png")


def test_an_unwritable_folder_gets_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    with pytest.raises(PermissionError) as caught:
        demo.check_writable(tmp_path / "picture.png")
    assert str(caught.value) == (
        f"Cannot write into the folder {str(tmp_path)!r} (Permission denied): "
        "name another place with --output."
    )
