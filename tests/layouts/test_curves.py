"""Z-order and Hilbert curves: every place once, and neighbours stay neighbours."""

import numpy as np
import pytest

from whyscan.layouts.curves import hilbert, zorder

CUBES = [(1, 5), (2, 1), (2, 4), (3, 3), (4, 2)]


def points(dimensions, bits):
    sides = [np.arange(1 << bits, dtype=np.uint64)] * dimensions
    return [axis.ravel() for axis in np.meshgrid(*sides, indexing="ij")]


@pytest.mark.parametrize(("dimensions", "bits"), CUBES)
@pytest.mark.parametrize("curve", [hilbert, zorder])
def test_a_curve_visits_every_place_once(curve, dimensions, bits):
    positions = curve(points(dimensions, bits), bits)

    assert sorted(positions.tolist()) == list(range(1 << (bits * dimensions)))


@pytest.mark.parametrize(("dimensions", "bits"), CUBES)
def test_places_that_follow_on_the_hilbert_curve_are_neighbours(dimensions, bits):
    axes = points(dimensions, bits)

    walk = np.stack(axes).astype(int)[:, np.argsort(hilbert(axes, bits))]

    assert (np.abs(np.diff(walk)).sum(axis=0) == 1).all()


def test_zorder_takes_the_bits_in_turn_the_first_coordinate_first():
    x, y = np.array([0b10], np.uint64), np.array([0b01], np.uint64)

    assert zorder([x, y], 2).tolist() == [0b1001]
