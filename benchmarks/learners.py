"""Complete fits, as a user would call them: ``python -m benchmarks.learners NAME GIVEN ANSWER``.

Each function learns from samples and labels and returns a map. GIVEN and ANSWER are NPZ files. This
file runs in environments that have neither calipers nor scikit-learn, so each function imports what
it needs. Memory is how far the fit raises that of the process.
"""

from __future__ import annotations

import functools
import json
import sys
import warnings
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.clock import resident_megabytes

EPOCHS, BATCH, LEARNING_RATE = 30, 128, 1e-3  # of the linear layer


class Fitted(NamedTuple):
    """The linear map that was learned, and the seconds of the fit.

    ``unit_length``: it learned distances between mapped samples of length 1.
    """

    components: Any
    seconds: float
    unit_length: bool = False

    def transform(self, X: Any) -> Any:
        """Samples in the space where the learned distance is Euclidean."""
        mapped = np.asarray(X @ np.asarray(self.components).T)
        if self.unit_length:
            lengths = np.linalg.norm(mapped, axis=1, keepdims=True)
            mapped = mapped / np.where(lengths, lengths, 1.0)
        return mapped


def calipers(X: Any, y: Any, *, seed: int, learner: str, **settings: Any) -> Fitted:
    """Any of Calipers' learners by its name."""
    import calipers

    return _by_name(getattr(calipers, learner), X, y, seed, settings)


def sklearn(X: Any, y: Any, *, seed: int, learner: str) -> Fitted:
    """scikit-learn's NCA, or its LDA, whose transform is (X - mean) @ scalings."""
    if learner == "NCA":
        from sklearn.neighbors import NeighborhoodComponentsAnalysis

        return _by_name(NeighborhoodComponentsAnalysis, X, y, seed, {})
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    started = perf_counter()
    model = LinearDiscriminantAnalysis().fit(X, y)
    seconds = perf_counter() - started
    return Fitted(model.scalings_[:, : model._max_components].T, seconds)


def metric_learn(X: Any, y: Any, *, seed: int, learner: str) -> Fitted:
    """Any of metric-learn's learners by its name."""
    _rename_argument_of_scikit_learn()
    import metric_learn  # type: ignore[import-not-found]

    return _by_name(getattr(metric_learn, learner), X, y, seed, {})


def _by_name(kind: Callable[..., Any], X: Any, y: Any, seed: int, settings: Any) -> Fitted:
    model = kind(**settings)
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    started = perf_counter()
    model.fit(X, y)
    return Fitted(model.components_, perf_counter() - started)


def _rename_argument_of_scikit_learn() -> None:
    """Let scikit-learn take ``force_all_finite`` again, which metric-learn passes."""
    import sklearn.utils
    import sklearn.utils.validation

    def renamed(check: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(check)
        def call(*words: Any, **named: Any) -> Any:
            if "force_all_finite" in named:
                named["ensure_all_finite"] = named.pop("force_all_finite")
            return check(*words, **named)

        return call

    for name in ("check_array", "check_X_y"):
        taken = renamed(getattr(sklearn.utils.validation, name))
        setattr(sklearn.utils.validation, name, taken)
        setattr(sklearn.utils, name, taken)


def torch(X: Any, y: Any, *, seed: int, learner: str) -> Fitted:
    """A square linear layer under a loss of pytorch-metric-learning, by Adam."""
    import torch
    from pytorch_metric_learning import losses  # type: ignore[import-not-found]

    torch.manual_seed(seed)
    loss = getattr(losses, learner)()
    started = perf_counter()
    samples, labels = torch.from_numpy(X).float(), torch.from_numpy(y)
    layer = torch.nn.Linear(X.shape[1], X.shape[1], bias=False)
    optimiser = torch.optim.Adam(layer.parameters(), lr=LEARNING_RATE)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(samples)).split(BATCH):
            optimiser.zero_grad()
            loss(layer(samples[batch]), labels[batch]).backward()
            optimiser.step()
    components = layer.weight.detach().double().numpy()
    unit_length = bool(loss.distance.normalize_embeddings)
    return Fitted(components, perf_counter() - started, unit_length)


HOMES: dict[str, Callable[..., Fitted]] = {
    home.__name__: home for home in (calipers, sklearn, metric_learn, torch)
}


def main(home: str, given_file: str, answer_file: str) -> None:
    """Fit what the file has, after a small fit that loads the code, and write what came of it."""
    warnings.simplefilter("ignore")
    with np.load(given_file) as given:
        X, y, how = given["X"], given["y"], json.loads(str(given["how"]))
    fit = HOMES[home]
    fit(X[:200, :10], y[:200], **how)
    fitted: list[Fitted] = []
    started = process_time()
    megabytes = resident_megabytes(lambda: fitted.append(fit(X, y, **how)))
    facts = {
        "seconds": fitted[0].seconds,
        "unit_length": fitted[0].unit_length,
        "cpu_seconds": process_time() - started,
        "megabytes": megabytes,
    }
    np.savez(answer_file, components=fitted[0].components, facts=json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
