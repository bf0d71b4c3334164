"""--baseline and --update-baseline."""

import json


def test_from_the_command_line(whyscan, lake, tmp_path):
    file = tmp_path / "baseline.json"
    ask = ("explain", "users", "-w", "country = 'DE' AND age > 40", "--baseline", file)

    assert whyscan(*ask).code == 2
    assert whyscan(*ask, "--update-baseline").code == 0
    assert whyscan(*ask).code == 0
    known = json.loads(file.read_text())
    known["questions"][0]["pruned_files"] = 99.0
    file.write_text(json.dumps(known))
    failed = whyscan(*ask, "--format", "json")
    assert failed.code == 1
    known["exemptions"] = [
        {"table": "users", "gate": "baseline", "reason": "backfill", "until": "2999-01-01"}
    ]
    file.write_text(json.dumps(known))
    excused = whyscan(*ask)
    assert excused.code == 0
    assert "exempt until 2999-01-01: backfill" in " ".join(excused.out.split())
    assert whyscan("explain", "users", "-w", "age > 40", "--update-baseline").code == 2
