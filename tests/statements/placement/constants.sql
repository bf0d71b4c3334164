== a constant through a sum
-- spark
SELECT a.id FROM orders a JOIN orders b ON a.month = b.month + 1 WHERE b.month = 4
--
orders a: month = 4 + 1
orders b: month = 4

== a constant on the other side of a sum
-- spark
SELECT b.id FROM orders a JOIN orders b ON a.month + 1 = b.month WHERE a.month = 3
--
orders a: month = 3
orders b: 3 + 1 = month

== a constant of a column that another equals
-- spark
SELECT a.id FROM orders a JOIN orders b ON a.month = b.month + 1 JOIN orders c ON c.month = b.month WHERE c.month = 4
--
orders a: month = 4 + 1
orders b: month = 4
orders c: month = 4

== a constant that makes another one
-- spark
SELECT a.id FROM orders a JOIN orders b ON a.month = b.month + 1 JOIN orders c ON b.month = c.month + 1 WHERE c.month = 2
--
orders a: month = 2 + 1 + 1
orders b: month = 2 + 1
orders c: month = 2

== an order of a column and a constant
-- spark
SELECT a.id FROM orders a JOIN users u ON a.day > u.born WHERE u.born = DATE '2024-03-01'
--
orders a: day > DATE '2024-03-01'
users u: born = DATE '2024-03-01'

== a range that starts and ends at constants
-- spark
SELECT a.id FROM orders a JOIN items i ON a.item_id BETWEEN i.item_id AND i.item_id + 1 WHERE i.item_id = 3
--
orders a: item_id BETWEEN 3 AND 3L + 1
items i: item_id = 3

== a constant behind an outer join says nothing of what it keeps
-- spark
SELECT a.id FROM orders a LEFT JOIN orders b ON a.month = b.month + 1 AND b.month = 4
--
orders a: -
orders b: month = 4

== a condition on the kept side of an outer join
-- spark
SELECT a.id FROM orders a LEFT JOIN orders b ON a.month = b.month + 1 WHERE a.month = 4
--
orders a: month = 4
orders b: month + 1 = 4

== a sum of two columns of which one is constant
-- spark
SELECT a.id FROM orders a JOIN orders b ON a.month + b.month = 6 WHERE b.month = 4
--
orders a: month + 4 = 6
orders b: month = 4

== zero has two signs
-- spark
SELECT a.id FROM orders a JOIN orders b ON 1 / a.amount = b.amount * 2 WHERE a.amount = 0.0D
--
orders a: amount = CAST(0.0 AS DOUBLE)
orders b: -

== a condition without columns is about every source
-- spark
SELECT a.id FROM orders a JOIN users u ON a.user_id = u.user_id WHERE is_member('admins')
--
orders a: is_member('admins')
users u: is_member('admins')
