"""`--probable`: printed as what it is, and never together with what is certified."""

from __future__ import annotations

import json

import pytest

from dpbounds.cli import main

RUN = (
    "epsilon --sampling random-allocation --noise-multiplier 1 --batches 10 --epochs 1 --participations 3 --delta 1e-2"
)
SAMPLED = [*RUN.split(), "--probable", "0.99", "--samples", "2000"]


def test_it_is_labelled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SAMPLED, "--sampling-seed", "1"]) == 0
    out, err = capsys.readouterr()
    assert "with confidence 0.99" in out
    assert "not certified" in out
    assert "not certified" in err
    assert "leave --sampling-seed out" in err
    assert main(["delta", *SAMPLED[1:-6], "--epsilon", "2", *SAMPLED[-4:]]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("delta ")
    assert "sampling-seed" not in err


def test_its_document_has_no_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SAMPLED, "--sampling-seed", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["certified"], document["confidence"], document["samples"], document["seed"]) == (
        False,
        0.99,
        2000,
        1,
    )
    assert list(document["epsilon"]) == ["probable_upper"]


@pytest.mark.parametrize(
    "more",
    [
        "--statement",
        "--certificate file.json",
        "--curve file.csv",
        "--trade-off file.csv",
        "--explain",
        "--tolerance 1e-3",
        "--time-limit 5",
        "--group-size 2",
        "--method rdp",
    ],
)
def test_nothing_certified_goes_with_it(more: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SAMPLED, *more.split()]) == 2
    assert "not possible with --probable" in capsys.readouterr().err


@pytest.mark.parametrize("alone", ["--samples 5", "--sampling-seed 5"])
def test_its_options_need_it(alone: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RUN.split(), *alone.split()]) == 2
    assert "needs --probable" in capsys.readouterr().err
