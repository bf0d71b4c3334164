"""What an audit says of failures quotes no literal of a query once it is shared."""

from msgspec.structs import replace

from support import audit_reports
from whyscan.spark.stages.audit.report import UnreadTable


def test_errors_quote_no_literal():
    line = replace(
        audit_reports.failing(),
        sql="SELECT * FROM sales WHERE customer = 'Alice Smith'",
        error="a row of 'Alice Smith' cannot be judged",
    )
    table = UnreadTable("sales", "lake/sales", "customer = 'Alice Smith' is of another type")
    audit = audit_reports.audit(queries=(replace(line, unread=(table,)),))

    (hidden,) = audit.redacted().queries

    assert "Alice" not in f"{hidden.error} {hidden.unread[0].error}"
    assert "cannot be judged" in hidden.error
