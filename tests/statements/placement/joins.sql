== inner: both sides, and what is equal
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id = u.user_id WHERE u.user_id = 12 AND o.month = 1
--
orders o: month = 1 AND user_id = 12
users u: user_id = 12

== inner: filters in ON
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id = u.user_id AND o.month = 1 AND u.country = 'DE'
--
orders o: month = 1
users u: country = 'DE'

== left: a filter on the kept side
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE o.user_id = 12
--
orders o: user_id = 12
users u: user_id = 12

== left: a filter on the filled side
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE u.country = 'DE'
--
orders o: -
users u: country = 'DE'

== left: IS NULL stays above
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE u.country IS NULL
--
orders o: -
users u: -
  ^ u.country IS NULL: a join keeps rows that fail it

== left: IS NOT NULL makes it inner
-- spark
SELECT o.id FROM (SELECT * FROM orders WHERE user_id < 15) o LEFT JOIN users u ON o.user_id = u.user_id WHERE u.country IS NOT NULL
--
orders orders: user_id < 15
users u: NOT country IS NULL AND user_id < 15

== left: coalesce to what passes stays above
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE coalesce(u.country, 'DE') = 'DE'
--
orders o: -
users u: -
  ^ coalesce(u.country, 'DE') = 'DE': a join keeps rows that fail it

== left: coalesce to what fails passes
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE coalesce(u.country, 'XX') = 'DE'
--
orders o: -
users u: coalesce(country, 'XX') = 'DE'

== left: CASE that fails for NULL
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE CASE WHEN u.country = 'DE' THEN TRUE ELSE FALSE END
--
orders o: -
users u: CASE WHEN country = 'DE' THEN TRUE ELSE FALSE END

== left: CASE that lets NULL pass
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE CASE WHEN u.country = 'DE' THEN FALSE ELSE TRUE END
--
orders o: -
users u: -
  ^ CASE WHEN u.country = 'DE' THEN FALSE ELSE TRUE END: a join keeps rows that fail it

== left: <=> a value
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE u.country <=> 'DE'
--
orders o: -
users u: country IS NOT DISTINCT FROM 'DE'

== left: <=> NULL
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE u.country <=> NULL
--
orders o: -
users u: -
  ^ u.country IS NOT DISTINCT FROM NULL: a join keeps rows that fail it

== left: NOT of a comparison
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE NOT (u.country = 'DE')
--
orders o: -
users u: NOT (country = 'DE')

== left: NOT of a null-safe comparison
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id WHERE NOT (u.country <=> 'DE')
--
orders o: -
users u: -
  ^ NOT (u.country IS NOT DISTINCT FROM 'DE'): a join keeps rows that fail it

== left: ON about the filled side
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id AND u.country = 'DE'
--
orders o: -
users u: country = 'DE'

== left: ON about the kept side filters the other alone
-- spark
SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.user_id AND o.user_id = 15
--
orders o: -
  ^ o.user_id = 15: a join keeps rows that fail it
users u: user_id = 15

== right: ON about either side
-- spark
SELECT o.id FROM orders o RIGHT JOIN users u ON o.user_id = u.user_id AND o.month = 3 AND u.country = 'DE'
--
orders o: month = 3
users u: -
  ^ u.country = 'DE': a join keeps rows that fail it

== full: ON about either side
-- spark
SELECT o.id FROM orders o FULL JOIN users u ON o.user_id = u.user_id AND o.user_id = 15 AND u.country = 'DE'
--
orders o: -
  ^ o.user_id = 15: a join keeps rows that fail it
users u: -
  ^ u.country = 'DE': a join keeps rows that fail it

== full: a filter on one side makes it a left join
-- spark
SELECT o.id FROM orders o FULL JOIN users u ON o.user_id = u.user_id WHERE o.month = 1 AND o.user_id = 15
--
orders o: month = 1 AND user_id = 15
users u: user_id = 15

== full: filters on both sides make it inner
-- spark
SELECT o.id FROM orders o FULL JOIN users u ON o.user_id = u.user_id WHERE o.month = 1 AND u.country = 'DE'
--
orders o: month = 1
users u: country = 'DE'

== semi: both sides
-- spark
SELECT o.id FROM orders o LEFT SEMI JOIN users u ON o.user_id = u.user_id AND u.user_id < 15
--
orders o: user_id < 15
users u: user_id < 15

== anti: the left side keeps what fails
-- spark
SELECT o.id FROM orders o LEFT ANTI JOIN users u ON o.user_id = u.user_id AND o.month = 3 AND u.user_id < 15
--
orders o: -
  ^ o.month = 3: a join keeps rows that fail it
users u: user_id < 15

== cross: each its own
-- spark
SELECT o.id FROM orders o CROSS JOIN users u WHERE o.month = 1 AND u.country = 'DE'
--
orders o: month = 1
users u: country = 'DE'

== a comma binds weaker than RIGHT JOIN
-- duckdb
SELECT i.item_id FROM items i, (SELECT * FROM orders WHERE user_id < 15) o RIGHT JOIN users u ON o.user_id = u.user_id WHERE i.item_id = 1
--
items i: item_id = 1
orders orders: user_id < 15
users u: -

== ASOF JOIN lets nothing through
-- duckdb
SELECT o.id FROM orders o ASOF JOIN users u ON o.user_id = u.user_id AND o.day >= u.born WHERE u.country = 'DE'
--
orders o: -
users u: -
  ^ u.country = 'DE': a join keeps rows that fail it

== a self-join has two scans
-- spark
SELECT a.id FROM orders a JOIN orders b ON a.user_id = b.user_id WHERE a.month = 1 AND b.month = 2
--
orders a: month = 1
orders b: month = 2

== joins in parentheses
-- spark
SELECT o.id FROM orders o LEFT JOIN (users u JOIN events e ON u.user_id = e.user_id AND e.kind = 'click') ON o.user_id = u.user_id WHERE o.user_id = 12
--
orders o: user_id = 12
users u: user_id = 12
events e: kind = 'click' AND user_id = 12

== a semi join in parentheses
-- duckdb
SELECT p.id FROM orders p LEFT JOIN (users q SEMI JOIN events r ON q.user_id = r.user_id) ON p.user_id = q.user_id WHERE q.user_id = 25
--
orders p: user_id = 25
users q: user_id = 25
events r: user_id = 25

== USING: one column
-- spark
SELECT o.id FROM orders o JOIN users u USING (user_id) WHERE user_id = 12
--
orders o: user_id = 12
users u: user_id = 12

== USING after LEFT
-- spark
SELECT o.id FROM orders o LEFT JOIN users u USING (user_id) JOIN events e USING (user_id) WHERE user_id = 12
--
orders o: user_id = 12L
users u: user_id = 12L
events e: user_id = 12

== USING after RIGHT compares the right column
-- spark
SELECT o.id FROM (SELECT * FROM orders WHERE user_id < 15) o RIGHT JOIN users u USING (user_id) JOIN events e USING (user_id)
--
orders orders: user_id < 15
users u: -
events e: -

== USING after FULL compares the merged column
-- spark
SELECT o.id FROM (SELECT * FROM orders WHERE user_id < 15) o FULL JOIN users u USING (user_id) JOIN events e USING (user_id)
--
orders orders: user_id < 15
users u: -
events e: -

== a lateral subquery sees the row
-- spark
SELECT u.name FROM users u JOIN LATERAL (SELECT * FROM orders o WHERE o.user_id = u.user_id AND o.month = 2) l WHERE u.user_id = 22
--
users u: user_id = 22
orders o: month = 2 AND user_id = 22

== a semi join behind joins in parentheses
-- duckdb
SELECT o.id FROM (orders o JOIN items i ON o.item_id = i.item_id) SEMI JOIN users u ON o.month = u.user_id AND u.user_id = 3
--
orders o: month = 3
items i: -
users u: user_id = 3

== (+) keeps the rows of the other side
-- snowflake
SELECT o.id FROM orders o, users u WHERE o.user_id = u.user_id(+) AND u.country(+) = 'DE' AND o.month = 2 AND u.name IS NULL
--
orders o: month = 2
users u: country = 'DE'
  ^ u.name IS NULL: a join keeps rows that fail it

== (+) on the first table
-- redshift
SELECT o.id FROM orders o, users u, items i WHERE o.user_id(+) = u.user_id AND i.item_id = u.user_id AND o.month IS NULL AND i.item_id = 3
--
orders o: user_id = 3L
  ^ o.month IS NULL: a join keeps rows that fail it
users u: user_id = 3L
items i: item_id = 3

== OUTER APPLY keeps the rows of the left side
-- tsql
SELECT o.id FROM orders o OUTER APPLY (SELECT * FROM users u WHERE u.user_id = o.user_id AND o.month = 2) x
--
orders o: -
  ^ o.month = 2: a join keeps rows that fail it
users u: -

== a JOIN without ON binds before a RIGHT JOIN
-- mysql
SELECT 1 FROM orders o JOIN items i RIGHT JOIN users u ON u.user_id = i.item_id WHERE o.note IS NULL
--
orders o: -
  ^ o.note IS NULL: a join keeps rows that fail it
items i: -
users u: -

== a comma binds after a RIGHT JOIN
-- mysql
SELECT 1 FROM orders o, items i RIGHT JOIN users u ON u.user_id = i.item_id WHERE o.note IS NULL
--
orders o: note IS NULL
items i: -
users u: -

== HAVING names a column that USING has merged
-- spark
SELECT count(*) FROM orders o JOIN users u USING (user_id) GROUP BY user_id HAVING user_id = 12
--
orders o: user_id = 12
users u: user_id = 12

== QUALIFY names a column that USING has merged
-- duckdb
SELECT o.id FROM orders o FULL JOIN users u USING (user_id) QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY id) = 1 AND user_id = 12
--
orders o: user_id = 12
  ^ row_number() OVER (PARTITION BY coalesce(o.user_id, u.user_id) ORDER BY o.id) = 1: it holds a window function
users u: user_id = 12
  ^ row_number() OVER (PARTITION BY coalesce(o.user_id, u.user_id) ORDER BY o.id) = 1: it holds a window function
