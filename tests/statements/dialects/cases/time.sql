== a date literal
orders orders [id, day]: o3a
-- spark trino duckdb snowflake bigquery postgres
SELECT id FROM orders WHERE day = DATE '2024-03-05'

== a cast text as a date
orders orders [id, day]: o3a
# Trino compares no date with text: the text is cast.
-- spark
SELECT id FROM orders WHERE day = '2024-03-05'
-- trino bigquery
SELECT id FROM orders WHERE day = CAST('2024-03-05' AS DATE)
-- duckdb snowflake postgres
SELECT id FROM orders WHERE day = '2024-03-05'::date

== a date from text by a function
orders orders [id, day]: o3a
-- spark
SELECT id FROM orders WHERE day = to_date('2024-03-05')
-- trino duckdb bigquery
SELECT id FROM orders WHERE day = date('2024-03-05')
-- snowflake
SELECT id FROM orders WHERE day = TO_DATE('2024-03-05')
-- postgres
SELECT id FROM orders WHERE day = to_date('2024-03-05', 'YYYY-MM-DD')

== a date and an interval of days
orders orders [id, day]: o6b
-- spark
SELECT id FROM orders WHERE day > DATE '2024-06-05' + INTERVAL 5 DAYS
-- duckdb
SELECT id FROM orders WHERE day > DATE '2024-06-05' + INTERVAL 5 DAY
-- trino
SELECT id FROM orders WHERE day > DATE '2024-06-05' + INTERVAL '5' DAY
-- snowflake
SELECT id FROM orders WHERE day > DATE '2024-06-05' + INTERVAL '5 days'
-- bigquery
SELECT id FROM orders WHERE day > DATE_ADD(DATE '2024-06-05', INTERVAL 5 DAY)
-- postgres
SELECT id FROM orders WHERE day > DATE '2024-06-05' + INTERVAL '5 days'

== a date and a number of days
orders orders [id, day]: o6b
-- spark
SELECT id FROM orders WHERE day > date_add(DATE '2024-06-05', 5)
-- duckdb postgres snowflake bigquery
SELECT id FROM orders WHERE day > DATE '2024-06-05' + 5
-- trino
SELECT id FROM orders WHERE day > date_add('day', 5, DATE '2024-06-05')

== days added to the column
orders orders [id, day]: o6a o6b
-- spark
SELECT id FROM orders WHERE date_add(day, 30) >= DATE '2024-07-01'
-- trino
SELECT id FROM orders WHERE date_add('day', 30, day) >= DATE '2024-07-01'
-- duckdb
SELECT id FROM orders WHERE day + INTERVAL 30 DAY >= DATE '2024-07-01'
-- snowflake
SELECT id FROM orders WHERE DATEADD(day, 30, day) >= DATE '2024-07-01'
-- bigquery
SELECT id FROM orders WHERE DATE_ADD(day, INTERVAL 30 DAY) >= DATE '2024-07-01'
-- postgres
SELECT id FROM orders WHERE day + 30 >= DATE '2024-07-01'

== days taken away
orders orders [id, day]: o1a o1b
-- spark
SELECT id FROM orders WHERE date_sub(day, 24) < DATE '2024-01-03'
-- trino
SELECT id FROM orders WHERE day - INTERVAL '24' DAY < DATE '2024-01-03'
-- duckdb
SELECT id FROM orders WHERE day - 24 < DATE '2024-01-03'
-- snowflake
SELECT id FROM orders WHERE DATEADD('day', -24, day) < DATE '2024-01-03'
-- bigquery
SELECT id FROM orders WHERE DATE_SUB(day, INTERVAL 24 DAY) < DATE '2024-01-03'
-- postgres
SELECT id FROM orders WHERE day - 24 < DATE '2024-01-03'

== months added
orders orders [id, day]: o1a
# Snowflake's ADD_MONTHS keeps to the last day of a month, DATEADD does not.
-- spark
SELECT id FROM orders WHERE day < add_months(DATE '2023-11-10', 2)
-- trino
SELECT id FROM orders WHERE day < date_add('month', 2, DATE '2023-11-10')
-- duckdb
SELECT id FROM orders WHERE day < DATE '2023-11-10' + INTERVAL 2 MONTHS
-- snowflake
SELECT id FROM orders WHERE day < DATEADD(month, 2, DATE '2023-11-10')
-- bigquery
SELECT id FROM orders WHERE day < DATE_ADD(DATE '2023-11-10', INTERVAL 2 MONTH)
-- postgres
SELECT id FROM orders WHERE day < DATE '2023-11-10' + INTERVAL '2 months'

== the month of a date
orders orders [id, day]: o4a o4b
-- spark
SELECT id FROM orders WHERE trunc(day, 'MM') = DATE '2024-04-01'
-- trino duckdb postgres snowflake
SELECT id FROM orders WHERE date_trunc('month', day) = DATE '2024-04-01'
-- bigquery
SELECT id FROM orders WHERE DATE_TRUNC(day, MONTH) = DATE '2024-04-01'

== the day of an instant
events events [seen, kind]: e2
-- spark
SELECT kind FROM events WHERE date_trunc('DAY', seen) = TIMESTAMP '2024-02-10 00:00:00Z'
-- trino
SELECT kind FROM events WHERE date_trunc('day', seen) = TIMESTAMP '2024-02-10 00:00:00 UTC'
-- duckdb
SELECT kind FROM events WHERE date_trunc('day', seen) = TIMESTAMPTZ '2024-02-10 00:00:00+00'
-- snowflake
SELECT kind FROM events WHERE DATE_TRUNC('DAY', seen) = '2024-02-10 00:00:00 +00:00'::TIMESTAMP_TZ
-- bigquery
SELECT kind FROM events WHERE TIMESTAMP_TRUNC(seen, DAY) = TIMESTAMP '2024-02-10 00:00:00+00'
-- postgres
SELECT kind FROM events WHERE date_trunc('day', seen) = TIMESTAMPTZ '2024-02-10 00:00:00+00'

== an instant as a date
events events [seen, kind]: e3
# The date of an instant is the session zone's, UTC here; BigQuery's is always UTC's.
-- spark
SELECT kind FROM events WHERE to_date(seen) >= '2024-03-01'
-- trino
SELECT kind FROM events WHERE date(seen) >= DATE '2024-03-01'
-- duckdb postgres
SELECT kind FROM events WHERE seen::date >= '2024-03-01'
-- snowflake
SELECT kind FROM events WHERE seen::DATE >= '2024-03-01'
-- bigquery
SELECT kind FROM events WHERE DATE(seen) >= '2024-03-01'

== a range of wall clock times
events events [wall, kind]: e1 e2
# A TIMESTAMP literal of Spark and BigQuery is an instant: they write the wall clock's own.
-- spark
SELECT kind FROM events WHERE wall >= TIMESTAMP_NTZ '2024-01-05 00:00:00' AND wall < TIMESTAMP_NTZ '2024-02-05 00:00:00'
-- trino duckdb postgres
SELECT kind FROM events WHERE wall >= TIMESTAMP '2024-01-05 00:00:00' AND wall < TIMESTAMP '2024-02-05 00:00:00'
-- snowflake
SELECT kind FROM events WHERE wall >= '2024-01-05 00:00:00'::TIMESTAMP_NTZ AND wall < TO_TIMESTAMP_NTZ('2024-02-05 00:00:00')
-- bigquery
SELECT kind FROM events WHERE wall >= DATETIME '2024-01-05 00:00:00' AND wall < DATETIME '2024-02-05 00:00:00'

== parts of a date
orders orders [id, day]: o5a o5b
-- spark
SELECT id FROM orders WHERE year(day) = 2024 AND month(day) = 5
-- trino
SELECT id FROM orders WHERE year(day) = 2024 AND extract(MONTH FROM day) = 5
-- duckdb
SELECT id FROM orders WHERE date_part('year', day) = 2024 AND month(day) = 5
-- snowflake
SELECT id FROM orders WHERE YEAR(day) = 2024 AND DATE_PART(month, day) = 5
-- bigquery
SELECT id FROM orders WHERE EXTRACT(YEAR FROM day) = 2024 AND EXTRACT(MONTH FROM day) = 5
-- postgres
SELECT id FROM orders WHERE extract(year FROM day) = 2024 AND date_part('month', day) = 5

== a date as text
orders orders [id, day]: o2a o2b
-- spark
SELECT id FROM orders WHERE date_format(day, 'yyyy-MM') = '2024-02'
-- trino
SELECT id FROM orders WHERE date_format(day, '%Y-%m') = '2024-02'
-- duckdb
SELECT id FROM orders WHERE strftime(day, '%Y-%m') = '2024-02'
-- snowflake
SELECT id FROM orders WHERE TO_CHAR(day, 'YYYY-MM') = '2024-02'
-- bigquery
SELECT id FROM orders WHERE FORMAT_DATE('%Y-%m', day) = '2024-02'
-- postgres
SELECT id FROM orders WHERE to_char(day, 'YYYY-MM') = '2024-02'

== days between two dates
orders orders [id, day]: o1a
-- spark
SELECT id FROM orders WHERE datediff(day, DATE '2024-01-01') < 10
-- trino duckdb
SELECT id FROM orders WHERE date_diff('day', DATE '2024-01-01', day) < 10
-- snowflake
SELECT id FROM orders WHERE DATEDIFF(day, DATE '2024-01-01', day) < 10
-- bigquery
SELECT id FROM orders WHERE DATE_DIFF(day, DATE '2024-01-01', DAY) < 10
-- postgres
SELECT id FROM orders WHERE day - DATE '2024-01-01' < 10

== the last day of a month
orders orders [id, day]: o2a o2b
-- spark snowflake bigquery duckdb
SELECT id FROM orders WHERE last_day(day) = DATE '2024-02-29'
-- trino
SELECT id FROM orders WHERE last_day_of_month(day) = DATE '2024-02-29'
-- postgres
SELECT id FROM orders WHERE date_trunc('month', day) = DATE '2024-02-01'
