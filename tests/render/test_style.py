"""Colours: told apart by the colour-blind, tints in grey print; captions stand in the files."""

from itertools import combinations

import numpy as np
import pytest

from dpbounds.render.style import COLOURS, DASHES, MARKS, TINTS, canvas, drawn

# Machado, Oliveira & Fernandes 2009, Table 1, severity 1, on linear light
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def _lab(colour, deficiency):
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    x, y, z = TO_XYZ @ np.clip(np.asarray(DEFICIENCIES[deficiency]) @ linear, 0, 1) / [0.9505, 1, 1.089]
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colours_are_told_apart(deficiency):
    for one, other in combinations(COLOURS, 2):
        assert np.linalg.norm(_lab(one, deficiency) - _lab(other, deficiency)) > 12, (one, other)


def test_text_can_be_read_on_tints_which_differ_in_grey_or_by_hatching():
    lightness = [_lab(tint, "none")[0] for tint in TINTS]
    assert min(lightness) > 75
    assert len(set(map(str, DASHES))) == len(DASHES) == len(set(MARKS))


def test_a_caption_stands_in_the_file_and_nothing_has_a_date():
    figure, _ = canvas(3, 2, title="above", caption="how to read it")
    for ending, told in ((".svg", b"how to read it"), (".png", b"how to read it")):
        first = drawn(figure, ending)
        assert told in first
        assert first == drawn(figure, ending)
