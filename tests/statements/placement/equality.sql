== through three joins
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id = u.user_id JOIN orders p ON p.user_id = u.user_id WHERE p.user_id = 12
--
orders o: user_id = 12
users u: user_id = 12
orders p: user_id = 12

== in WHERE
-- spark
SELECT o.id FROM orders o, users u WHERE o.user_id = u.user_id AND u.user_id = 12
--
orders o: user_id = 12
users u: user_id = 12

== lists
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id = u.user_id WHERE u.user_id IN (12, 14)
--
orders o: user_id IN (12, 14)
users u: user_id IN (12, 14)

== ranges
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id = u.user_id WHERE u.user_id > 12 AND u.user_id <= 20
--
orders o: user_id > 12 AND user_id <= 20
users u: user_id > 12 AND user_id <= 20

== functions of the key
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id = u.user_id WHERE u.user_id % 2 = 1
--
orders o: user_id % 2 = 1
users u: user_id % 2 = 1

== a constant of a derived table
-- spark
SELECT o.id FROM (SELECT 3 AS k) c JOIN orders o ON o.month = c.k
--
orders o: month = 3

== int and bigint
-- spark
SELECT o.id FROM orders o JOIN events e ON o.user_id = e.user_id WHERE o.user_id IN (12, 14)
--
orders o: user_id IN (12, 14)
events e: user_id IN (12, 14)

== bigint and int
-- spark
SELECT o.id FROM orders o JOIN events e ON o.user_id = e.user_id WHERE e.user_id BETWEEN 12 AND 14
--
orders o: user_id BETWEEN 12L AND 14L
events e: user_id BETWEEN 12 AND 14

== an int and a text: the cast is the condition's
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id = u.name WHERE o.user_id = 12
--
orders o: user_id = 12
users u: CAST(name AS BIGINT) = 12

== a date and an instant's date
-- spark
SELECT o.id FROM orders o JOIN events e ON o.day = CAST(e.seen AS DATE) WHERE o.day = '2024-02-03'
--
orders o: day = '2024-02-03'
events e: CAST(seen AS DATE) = DATE '2024-02-03'

== doubles: comparisons spread
-- spark
SELECT a.id FROM orders a JOIN orders b ON a.amount = b.amount WHERE b.amount < 5
--
orders a: amount < 5.0D
orders b: amount < 5

== doubles: 0.0 = -0.0, and functions tell them apart
-- spark
SELECT a.id FROM orders a JOIN orders b ON a.amount = b.amount WHERE 1 / b.amount < 5
--
orders a: -
orders b: 1 / amount < 5

== a = b + 1
-- spark
SELECT a.id FROM orders a JOIN orders b ON a.month = b.month + 1 WHERE a.month = 3
--
orders a: month = 3
orders b: month + 1 = 3

== <=> spreads values
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id <=> u.user_id WHERE u.user_id = 12
--
orders o: user_id = 12
users u: user_id = 12

== not over a left join's ON to the kept side
-- spark
SELECT o.id FROM orders o LEFT JOIN (SELECT * FROM users WHERE user_id = 12) u ON o.user_id = u.user_id
--
orders o: -
users users: user_id = 12

== OR over two tables: each its part
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id = u.user_id WHERE (o.month = 1 AND u.country = 'DE') OR (o.month = 2 AND u.country = 'FR')
--
orders o: month = 1 OR month = 2
users u: country = 'DE' OR country = 'FR'

== an equality in every branch of an OR joins
-- spark
SELECT o.id FROM orders o, users u WHERE (o.user_id = u.user_id AND o.month = 1 AND u.user_id = 12) OR (o.user_id = u.user_id AND u.user_id = 14)
--
orders o: -
users u: user_id = 12 OR user_id = 14

== a condition in every branch of an OR holds
-- spark
SELECT o.id FROM orders o WHERE (o.month = 1 AND o.user_id = 12) OR (o.month = 1 AND o.id < 7)
--
orders o: (month = 1 AND user_id = 12) OR (month = 1 AND id < 7) AND month = 1

== OR with a side that says nothing
-- spark
SELECT o.id FROM orders o JOIN users u ON o.user_id = u.user_id WHERE o.month = 1 OR u.country = 'DE'
--
orders o: -
users u: -
