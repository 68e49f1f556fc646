"""Odd files and names by the command line: done as meant, or one sentence and nothing lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calipers import load
from calipers.cli.main import main
from damage import by_command
from metric_files import small_file

GOOD = "a,b,y\n" + "".join(f"{1.5 * i},{7 * i % 5},{'xz'[i % 2]}\n" for i in range(20))
FIT = ("--learner", "triplet-sgd", "--method", "mini-sgd", "--triplets", "20", "--label", "y")


def fit(data: Path, *words: str, output: Path | None = None) -> str:
    output = output or data.with_name("metric.safetensors")
    return by_command(output, "fit", str(data), *FIT, "-o", str(output), *words)


SOUND: dict[str, bytes] = {
    "as it should be": GOOD.encode(),
    "a byte order mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "line ends of Windows": GOOD.replace("\n", "\r\n").encode(),
    "line ends of old": GOOD.replace("\n", "\r").encode(),
    "no last line end": GOOD.rstrip().encode(),
    "semicolons": GOOD.replace(",", ";").encode(),
}


@pytest.mark.parametrize("kind", SOUND)
def test_sound_texts_give_the_same_metric(kind: str, tmp_path: Path) -> None:
    for name, content in (("a.csv", SOUND[kind]), ("b.csv", GOOD.encode())):
        (tmp_path / name).write_bytes(content)
        assert fit(tmp_path / name, output=tmp_path / f"{name}.metric") == ""
    metrics = [load(tmp_path / f"{name}.metric") for name in ("a.csv", "b.csv")]
    np.testing.assert_array_equal(metrics[0].components_, metrics[1].components_)
    assert metrics[0].feature_names_in_.tolist() == ["a", "b"]


BAD: dict[str, tuple[str, str]] = {
    "nothing": ("", "is empty: give a table with a header and rows."),
    "blank lines": ("\n\n\n", "is empty: give a table with a header and rows."),
    "a header": ("a,b,y\n", "has a header and no rows: give a table with rows."),
    "one row": ("a,b,y\n1,2,x\n", "has one class only ('x'): name a column"),
    "the label alone": (
        "y\nx\nz\nx\nz\n",
        "has no column to learn from, only the label",
    ),
    "one class": ("a,y\n1,x\n2,x\n3,x\n", "has one class only ('x'): name a column"),
    "a name twice": ("a,a,y\n1,2,x\n3,4,z\n", "has 2 columns named 'a': give each its own name."),
    "no label": ("a,y\n1,\n1,?\n", "has no label in the column 'y': name another column."),
    "infinity": (
        "a,y\n1e400,x\n1,z\n2,x\n",
        "the column 'a' has inf in row 1, where a finite",
    ),
    "both ends": ("a,y\n1e308,x\n-1e308,z\n2,x\n3,z\n", "whose fourth powers overflow float64"),
    "free texts": ("a,y\nu v,x\nw x,z\ny z,x\n", "X has no column to learn from, only 'a' (text"),
}


@pytest.mark.parametrize("kind", BAD)
def test_texts_that_cannot_be_learned_from(kind: str, tmp_path: Path) -> None:
    content, told = BAD[kind]
    (tmp_path / "a.csv").write_text(content)
    assert told in fit(tmp_path / "a.csv")


def test_a_text_that_says_it_is_an_array(tmp_path: Path) -> None:
    for name in ("a.npy", "a.npz"):
        (tmp_path / name).write_text(GOOD)
        assert "(it holds something else than numbers): give arrays" in fit(tmp_path / name)


def test_names_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "lost.csv").symlink_to(tmp_path / "nowhere")
    (tmp_path / "round.csv").symlink_to(tmp_path / "round.csv")
    assert "is not a file: give the name" in fit(tmp_path / "folder.csv")
    for name in ("lost.csv", "round.csv", "none.csv"):
        assert "does not exist: give the name of a data file." in fit(tmp_path / name)
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe.csv")
        assert "is not a file: give the name" in fit(tmp_path / "pipe.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(GOOD)
    (tmp_path / "a.csv").chmod(0)
    assert "Permission denied" in fit(tmp_path / "a.csv")


# What is used must not be written over


LOST = "calipers: {!r} is the name of the {}, too, which would be lost: name another place.\n"


def test_the_data_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, link = tmp_path / "a.csv", tmp_path / "link.csv"
    data.write_text(GOOD)
    link.symlink_to(data)
    metric = small_file(tmp_path)
    before = metric.read_bytes()
    for words, written, what in (
        (["fit", str(data), *FIT, "-o", str(data)], data, "data"),
        (["fit", str(data), *FIT, "-o", str(link)], link, "data"),
        (["fit", str(data), *FIT, "-o", "m", "--checkpoint", str(data)], data, "data"),
        (
            ["fit", str(data), *FIT, "-o", str(metric), "--checkpoint", str(metric)],
            metric,
            "output",
        ),
        (["transform", str(metric), str(data), "-o", str(link)], link, "data"),
    ):
        assert main(words) == 2
        assert capsys.readouterr().err == LOST.format(str(written), what)
    assert data.read_text() == GOOD
    assert metric.read_bytes() == before


def test_images_beyond_float64(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,c\n1,2,3\n1e308,1e308,1e308\n")
    metric, images = small_file(tmp_path, encoder=None), tmp_path / "images.csv"
    told = by_command(images, "transform", str(metric), str(tmp_path / "a.csv"), "-o", str(images))
    assert "has values in row 2 whose images are beyond float64: divide the features" in told
    samples = pd.DataFrame([[1.0, 2.0, 3.0], [1e308] * 3], columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"^X\[1\] has values up to 1e\+308, whose images are "):
        load(metric).transform(samples)
