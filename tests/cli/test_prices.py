"""Prices on the command line: the cost is shown, the gate decides, and no price is made up."""

import json

import pytest

ASK = ("explain", "users", "-w", "age > 40")


def test_the_cost_is_shown_beside_the_bytes(whyscan):
    done = whyscan(*ASK, "--price", "5/MB", "--request-price", "1/1000", "--format", "json")

    document = json.loads(done.out)
    size = document["levels"][0]["bytes_kept"]
    files = document["levels"][0]["kept"]
    assert document["cost"]["bytes"] == pytest.approx(5 * size / 10**6)
    assert document["cost"]["requests"] == pytest.approx(files / 1000)
    assert (document["cost"]["price"], document["cost"]["request_price"]) == ("5/MB", "1/1000")


@pytest.mark.parametrize(("limit", "code"), [("0", 1), ("1000", 0)])
@pytest.mark.parametrize(
    "question",
    [ASK, ("explain", "--sql", "SELECT * FROM users WHERE age > 40", "--table", "users=users")],
    ids=["table", "statement"],
)
def test_the_gate_on_the_cost_decides(whyscan, question, limit, code):
    done = whyscan(*question, "--price", "5/GB", "--max-cost", limit)

    assert done.code == code
    assert "max_cost: " in done.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-cost", "1"), "--max-cost needs a price"),
        (("--price", "5"), "not a price: '5'"),
        (("--request-price", "1/TB"), "not a price: '1/TB'"),
    ],
)
def test_without_a_price_there_is_no_cost_and_a_wrong_one_is_an_error(whyscan, options, message):
    done = whyscan(*ASK, *options)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}\nhint: ")
