== a key of GROUP BY
-- spark
SELECT c FROM (SELECT month, count(*) AS c FROM orders GROUP BY month) x WHERE month = 3 AND c > 5
--
orders orders: month = 3

== HAVING on a key and on an aggregate
-- spark
SELECT month FROM orders GROUP BY month HAVING month = 3 AND sum(amount) > 5
--
orders orders: month = 3
  ^ sum(orders.amount) > 5: it holds an aggregate

== a function of a key
-- spark
SELECT m FROM (SELECT month + 1 AS m, count(*) AS c FROM orders GROUP BY month) x WHERE m = 3
--
orders orders: month + 1 = 3

== a key that is an expression
-- spark
SELECT m FROM (SELECT month + 1 AS m, count(*) AS c FROM orders GROUP BY month + 1) x WHERE m = 3
--
orders orders: month + 1 = 3

== what is no key
-- spark
SELECT c FROM (SELECT month, max(user_id) AS c FROM orders GROUP BY month) x WHERE c = 12
--
orders orders: -
  ^ x.c = 12: it is computed from many rows, or by what is not understood

== a key of ROLLUP
-- spark
SELECT month, status FROM orders GROUP BY ROLLUP (month, status) HAVING month = 3
--
orders orders: -
  ^ orders.month = 3: it stands above GROUP BY

== a key beside ROLLUP
-- spark
SELECT month, status FROM orders GROUP BY month, ROLLUP (status) HAVING month = 3
--
orders orders: month = 3

== a key of CUBE
-- spark
SELECT month, status FROM orders GROUP BY CUBE (month, status) HAVING month = 3
--
orders orders: -
  ^ orders.month = 3: it stands above GROUP BY

== keys before GROUPING SETS
-- spark
SELECT month, status FROM orders GROUP BY month, status GROUPING SETS ((month), (status)) HAVING month = 3
--
orders orders: -
  ^ orders.month = 3: it stands above GROUP BY

== a constant that is a key of ROLLUP
-- spark
SELECT c FROM (SELECT 5 AS c, count(*) AS n FROM orders GROUP BY ROLLUP (c)) x WHERE c IS NULL
--
orders orders: -

== a key of GROUPING SETS
-- spark
SELECT month, status FROM orders GROUP BY GROUPING SETS ((month), (status)) HAVING month = 3
--
orders orders: -
  ^ orders.month = 3: it stands above GROUP BY

== an aggregate without keys gives a row of nothing
-- spark
SELECT c FROM (SELECT count(*) AS c FROM orders) x WHERE c = 0
--
orders orders: -

== an alias that hides a column in HAVING
-- spark
SELECT amount AS month, count(*) FROM orders GROUP BY amount HAVING month = 3
--
orders orders: -
  ^ orders.amount = 3: a name in it is a column's and another output's

== a window's key
-- spark
SELECT id FROM (SELECT id, month, rank() OVER (PARTITION BY month ORDER BY day) AS r FROM orders) x WHERE month = 3 AND r = 1
--
orders orders: month = 3
  ^ x.r = 1: it is computed from many rows, or by what is not understood

== not a window's key
-- spark
SELECT id FROM (SELECT id, user_id, rank() OVER (PARTITION BY month ORDER BY day) AS r FROM orders) x WHERE user_id = 15 AND r = 1
--
orders orders: -
  ^ x.user_id = 15: it stands above a window function
  ^ x.r = 1: it is computed from many rows, or by what is not understood

== a key of one of two windows
-- spark
SELECT id FROM (SELECT id, month, rank() OVER (PARTITION BY month ORDER BY day) AS r, sum(amount) OVER () AS s FROM orders) x WHERE month = 3 AND r = 1 AND s > 1
--
orders orders: -
  ^ x.month = 3: it stands above a window function
  ^ x.r = 1: it is computed from many rows, or by what is not understood
  ^ x.s > 1: it is computed from many rows, or by what is not understood

== a named window's key
-- spark
SELECT id FROM (SELECT id, month, rank() OVER w AS r FROM orders WINDOW w AS (PARTITION BY month ORDER BY day)) x WHERE month = 3 AND r = 1
--
orders orders: month = 3

== QUALIFY on a key
-- databricks
SELECT id FROM orders QUALIFY month = 3 AND rank() OVER (PARTITION BY month ORDER BY day) = 1
--
orders orders: month = 3
  ^ rank() OVER (PARTITION BY orders.month ORDER BY orders.day) = 1: it holds a window function

== QUALIFY on what is no key
-- databricks
SELECT id FROM orders QUALIFY user_id = 15 AND rank() OVER (PARTITION BY month ORDER BY day) = 1
--
orders orders: -
  ^ orders.user_id = 15: it stands above a window function
  ^ rank() OVER (PARTITION BY orders.month ORDER BY orders.day) = 1: it holds a window function

== WHERE below QUALIFY
-- databricks
SELECT id FROM orders WHERE user_id = 15 QUALIFY rank() OVER (PARTITION BY month ORDER BY day) = 1
--
orders orders: user_id = 15
  ^ rank() OVER (PARTITION BY orders.month ORDER BY orders.day) = 1: it holds a window function
