"""XXH64 with the seed 0, the hash of Parquet's bloom filters. Few values are hashed at a time."""

from __future__ import annotations

import struct

_MASK = (1 << 64) - 1
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_STRIPE = 32
_LANE, _HALF = 8, 4


def _rotate(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & _MASK


def _round(accumulator: int, lane: int) -> int:
    return _rotate((accumulator + lane * _P2) & _MASK, 31) * _P1 & _MASK


def xxh64(data: bytes) -> int:
    """The hash of some bytes, an unsigned number of 64 bits."""
    length, at = len(data), 0
    if length >= _STRIPE:
        lanes = [(_P1 + _P2) & _MASK, _P2, 0, -_P1 & _MASK]
        while at + _STRIPE <= length:
            words = struct.unpack_from("<4Q", data, at)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
            at += _STRIPE
        bits = (1, 7, 12, 18)
        value = sum(_rotate(lane, n) for lane, n in zip(lanes, bits, strict=True)) & _MASK
        for lane in lanes:
            value = ((value ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        value = _P5
    value = (value + length) & _MASK
    while at + _LANE <= length:
        (word,) = struct.unpack_from("<Q", data, at)
        value = (_rotate(value ^ _round(0, word), 27) * _P1 + _P4) & _MASK
        at += _LANE
    if at + _HALF <= length:
        (word,) = struct.unpack_from("<I", data, at)
        value = (_rotate(value ^ (word * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
        at += _HALF
    for byte in data[at:]:
        value = _rotate(value ^ (byte * _P5 & _MASK), 11) * _P1 & _MASK
    value = (value ^ value >> 33) * _P2 & _MASK
    value = (value ^ value >> 29) * _P3 & _MASK
    return value ^ value >> 32
