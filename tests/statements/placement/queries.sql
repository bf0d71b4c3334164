== a CTE passes filters
-- spark
WITH c AS (SELECT * FROM orders) SELECT id FROM c WHERE month = 3
--
orders orders: month = 3

== each use of a CTE is a scan
-- spark
WITH c AS (SELECT id, month FROM orders) SELECT a.id FROM c a JOIN c b ON a.id = b.id WHERE a.month = 3
--
orders orders: month = 3
orders orders: -

== CTEs inside CTEs
-- spark
WITH a AS (WITH b AS (SELECT * FROM orders WHERE month > 1) SELECT * FROM b WHERE month < 5) SELECT id FROM a WHERE month <> 3
--
orders orders: month > 1 AND month < 5 AND month <> 3

== a CTE hides a table from those after it
-- spark
WITH a AS (SELECT * FROM orders), orders AS (SELECT * FROM users) SELECT a.id FROM a JOIN orders o ON a.user_id = o.user_id WHERE o.country = 'DE' AND a.month = 1
--
orders orders: month = 1
users users: country = 'DE'

== a CTE reads the table that it hides
-- spark
WITH users AS (SELECT user_id, country FROM users WHERE country <> 'US') SELECT user_id FROM users WHERE user_id > 35
--
users users: country <> 'US' AND user_id > 35

== nothing passes into a recursive CTE
-- spark
WITH RECURSIVE r AS (SELECT user_id FROM orders WHERE month = 1 UNION ALL SELECT o.user_id FROM orders o JOIN r ON o.user_id = r.user_id + 2 WHERE o.month = 2) SELECT user_id FROM r WHERE user_id = 12
--
orders orders: month = 1
  ^ r.user_id = 12: it is recursive
orders o: month = 2
  ^ r.user_id = 12: it is recursive
  ^ o.user_id = r.user_id + 2: a name in it may be a column of a table without a schema

== views before the statement
-- spark
CREATE VIEW v AS SELECT * FROM orders WHERE month > 1; CREATE VIEW w(a, b) AS SELECT id, month FROM v; SELECT a FROM w WHERE b < 3
--
orders orders: month > 1 AND month < 3

== derived tables inside derived tables
-- spark
SELECT k FROM (SELECT m AS k FROM (SELECT month AS m FROM orders) x) y WHERE k = 3
--
orders orders: month = 3

== an expression of a derived table
-- spark
SELECT m FROM (SELECT month + 1 AS m FROM orders) x WHERE m = 3
--
orders orders: month + 1 = 3

== UNION ALL: both sides
-- spark
SELECT k FROM (SELECT user_id AS k FROM orders UNION ALL SELECT user_id FROM users) x WHERE k = 15
--
orders orders: user_id = 15
users users: user_id = 15

== UNION ALL of integers of two widths, and of NULL
-- spark
SELECT k FROM (SELECT user_id AS k FROM orders UNION ALL SELECT CAST(user_id AS SMALLINT) FROM users UNION ALL SELECT NULL FROM users) x WHERE k = 15
--
orders orders: user_id = 15
users users: CAST(CAST(user_id AS SMALLINT) AS INT) = 15
users users: CAST(NULL AS INT) = 15

== a constant of the file behind an alias
-- spark
SELECT o.id FROM orders o WHERE o._metadata.file_name = 'a.parquet'
--
orders o: _metadata.file_name = 'a.parquet'

== UNION: both sides
-- spark
SELECT k FROM (SELECT user_id AS k FROM orders UNION SELECT user_id FROM users) x WHERE k = 15
--
orders orders: user_id = 15
users users: user_id = 15

== EXCEPT: both sides
-- spark
SELECT k FROM (SELECT user_id AS k FROM orders EXCEPT SELECT user_id FROM users) x WHERE k = 15
--
orders orders: user_id = 15
users users: user_id = 15

== EXCEPT ALL: both sides
-- spark
SELECT k FROM (SELECT user_id AS k FROM orders EXCEPT ALL SELECT user_id FROM users) x WHERE k = 15
--
orders orders: user_id = 15
users users: user_id = 15

== INTERSECT: each side's filter is the other's
-- spark
SELECT user_id FROM orders INTERSECT SELECT user_id FROM users WHERE user_id < 30
--
orders orders: user_id < 30
users users: user_id < 30

== EXCEPT: the left side's filter is the right's
-- spark
SELECT user_id FROM orders WHERE user_id > 40 EXCEPT SELECT user_id FROM users
--
orders orders: user_id > 40
users users: user_id > 40

== EXCEPT: the right side's filter is not the left's
-- spark
SELECT user_id FROM orders EXCEPT SELECT user_id FROM users WHERE user_id < 30
--
orders orders: -
users users: user_id < 30

== a constant of a branch decides it
-- spark
SELECT user_id FROM (SELECT 'u' AS src, user_id FROM users UNION ALL SELECT 'o', user_id FROM orders) x WHERE src = 'u'
--
users users: 'u' = 'u'
orders orders: 'o' = 'u'

== UNION under LIMIT
-- spark
SELECT k FROM (SELECT user_id AS k FROM orders UNION ALL SELECT user_id FROM users LIMIT 5) x WHERE k = 15
--
orders orders: -
  ^ x.k = 15: it stands above LIMIT
users users: -
  ^ x.k = 15: it stands above LIMIT

== above LIMIT
-- spark
SELECT id FROM (SELECT id, month FROM orders LIMIT 10) x WHERE month = 3
--
orders orders: -
  ^ x.month = 3: it stands above LIMIT

== above OFFSET
-- spark
SELECT id FROM (SELECT id, month FROM orders ORDER BY id OFFSET 5) x WHERE month = 3
--
orders orders: -
  ^ x.month = 3: it stands above OFFSET

== DISTINCT passes
-- spark
SELECT status FROM (SELECT DISTINCT month, status FROM orders) x WHERE month = 3
--
orders orders: month = 3

== DISTINCT ON does not
-- duckdb
SELECT id FROM (SELECT DISTINCT ON (user_id) id, user_id, month FROM orders ORDER BY user_id, id) x WHERE month = 3
--
orders orders: -
  ^ x.month = 3: it stands above DISTINCT ON

== TABLESAMPLE does not
-- spark
SELECT o.id FROM orders TABLESAMPLE (10 PERCENT) o WHERE o.month = 3
--
orders o: -
  ^ o.month = 3: it stands above TABLESAMPLE

== USING SAMPLE does not
-- duckdb
SELECT id FROM orders WHERE month = 3 USING SAMPLE 5 ROWS
--
orders orders: -
  ^ orders.month = 3: it stands above TABLESAMPLE

== PIVOT does not
-- spark
SELECT * FROM (SELECT month, status, amount FROM orders) PIVOT (sum(amount) FOR status IN ('new', 'paid')) WHERE month = 3
--
orders orders: -

== what is not deterministic stays, its neighbours go
-- spark
SELECT id FROM orders WHERE month = 3 AND rand() < 0.5
--
orders orders: month = 3

== nothing passes what is not deterministic
-- spark
SELECT id FROM (SELECT id, rand() AS r FROM orders) x WHERE r < 0.5 AND id < 200
--
orders orders: -
  ^ x.id < 200: it stands above what is not deterministic

== a struct's member
-- spark
SELECT kind FROM events e WHERE e.place.city = 'c2'
--
events e: place.city = 'c2'

== a struct through a derived table
-- spark
SELECT 1 FROM (SELECT place AS p FROM events) x WHERE x.p.city = 'c2'
--
events events: place.city = 'c2'

== WHERE FALSE reads nothing
-- spark
SELECT count(*) FROM orders o JOIN users u ON o.user_id = u.user_id WHERE FALSE
--
orders o: FALSE
users u: FALSE

== WHERE sees what MATCH_RECOGNIZE makes of the rows
-- snowflake
SELECT * FROM orders MATCH_RECOGNIZE (PARTITION BY month ORDER BY id MEASURES last(amount) AS amount PATTERN (A+) DEFINE A AS amount > 1) WHERE amount > 60
--
orders orders: -
  ^ orders.amount > 60: it stands above MATCH_RECOGNIZE

== WHERE is applied after CONNECT BY
-- snowflake
SELECT id FROM orders START WITH id = 100 CONNECT BY PRIOR id = user_id WHERE month = 3
--
orders orders: -
  ^ orders.month = 3: it stands above CONNECT BY

== a pipe sees the result of LIMIT
-- spark
FROM orders |> ORDER BY id |> LIMIT 3 |> WHERE month = 3
--
orders orders: -
  ^ orders.month = 3: it stands above LIMIT

== a pipe within a subquery, after two limits
-- bigquery
SELECT * FROM (FROM orders |> WHERE month = 3 |> LIMIT 3 |> WHERE orders.id > 300 |> LIMIT 2 |> WHERE user_id > 30) x WHERE amount > 5
--
orders orders: month = 3
  ^ orders.id > 300: it stands above LIMIT
  ^ orders.user_id > 30: it stands above LIMIT
  ^ x.amount > 5: it stands above LIMIT

== a pipe filters before a RIGHT JOIN
-- spark
FROM orders |> WHERE month = 3 |> RIGHT JOIN users ON orders.user_id = users.user_id |> WHERE country = 'DE'
--
orders orders: month = 3
users users: country = 'DE'

== a pipe with a name for what it has so far
-- spark
FROM orders |> WHERE month = 3 |> AS o |> WHERE o.id > 300
--
orders orders: month = 3 AND id > 300
