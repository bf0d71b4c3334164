== EXISTS
-- spark
SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM users u WHERE u.user_id = o.user_id AND o.month = 3 AND u.country = 'DE')
--
orders o: month = 3
users u: country = 'DE'

== NOT EXISTS
-- spark
SELECT o.id FROM orders o WHERE o.month = 5 AND NOT EXISTS (SELECT 1 FROM users u WHERE u.user_id = o.user_id AND u.country = 'DE')
--
orders o: month = 5
users u: country = 'DE'

== EXISTS of an aggregate is always true
-- spark
SELECT o.id FROM orders o WHERE EXISTS (SELECT count(*) FROM users u WHERE u.user_id = o.user_id AND o.month = 3)
--
orders o: -
  ^ o.month = 3: a join keeps rows that fail it
users u: -

== IN: the filter inside spreads
-- spark
SELECT o.id FROM orders o WHERE o.user_id IN (SELECT user_id FROM users WHERE user_id < 15)
--
orders o: user_id < 15
  ^ o.user_id IN (SELECT users.user_id AS user_id FROM users AS users WHERE users.user_id < 15): it holds a subquery
users users: user_id < 15

== IN: the filter outside spreads
-- spark
SELECT o.id FROM orders o WHERE o.user_id IN (SELECT user_id FROM users) AND o.user_id < 15
--
orders o: user_id < 15
  ^ o.user_id IN (SELECT users.user_id AS user_id FROM users AS users): it holds a subquery
users users: user_id < 15

== NOT IN: the filter inside does not spread
-- spark
SELECT o.id FROM orders o WHERE o.user_id NOT IN (SELECT user_id FROM users WHERE user_id < 15)
--
orders o: -
  ^ NOT o.user_id IN (SELECT users.user_id AS user_id FROM users AS users WHERE users.user_id < 15): it holds a subquery
users users: user_id < 15

== IN of tuples
-- spark
SELECT o.id FROM orders o WHERE (o.user_id, o.month) IN (SELECT user_id, 3 FROM users WHERE country = 'FR')
--
orders o: month = 3
  ^ (o.user_id, o.month) IN (SELECT users.user_id AS user_id, 3 AS `3` FROM users AS users WHERE users.country = 'FR'): it holds a subquery
users users: country = 'FR'

== IN under OR
-- spark
SELECT o.id FROM orders o WHERE o.month = 3 OR o.user_id IN (SELECT user_id FROM users WHERE country = 'FR')
--
orders o: -
  ^ o.month = 3 OR o.user_id IN (SELECT users.user_id AS user_id FROM users AS users WHERE users.country = 'FR'): it holds a subquery
users users: country = 'FR'

== a correlated scalar subquery sees the row
-- spark
SELECT o.id FROM orders o WHERE o.amount > (SELECT avg(p.amount) FROM orders p WHERE p.month = o.month) AND o.month = 4
--
orders o: month = 4
  ^ o.amount > (SELECT avg(p.amount) AS _col_0 FROM orders AS p WHERE p.month = o.month): it holds a subquery
orders p: month = 4

== a subquery in the SELECT list
-- spark
SELECT (SELECT max(e.kind) FROM events e WHERE e.user_id = u.user_id) FROM users u WHERE u.user_id = 12
--
events e: user_id = 12
users u: user_id = 12

== IN: of an integer of another width
-- spark
SELECT o.id FROM orders o WHERE o.id IN (SELECT user_id FROM users) AND o.id < 15
--
orders o: id < 15
  ^ o.id IN (SELECT users.user_id AS user_id FROM users AS users): it holds a subquery
users users: user_id < 15L

== equal to any of a query
-- duckdb
SELECT o.id FROM orders o WHERE o.user_id = ANY (SELECT user_id FROM users WHERE user_id < 15)
--
orders o: user_id < 15
  ^ o.user_id = ANY (SELECT users.user_id AS user_id FROM users AS users WHERE users.user_id < 15): it holds a subquery
users users: user_id < 15

== not equal to any of a query
-- duckdb
SELECT o.id FROM orders o WHERE NOT o.user_id = ANY (SELECT user_id FROM users WHERE user_id < 15)
--
orders o: -
  ^ NOT o.user_id = ANY (SELECT users.user_id AS user_id FROM users AS users WHERE users.user_id < 15): it holds a subquery
users users: user_id < 15
