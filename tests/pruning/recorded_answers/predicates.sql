-- bits
i & 12 = 4
i & 12 > 12
i & j = 0
i & -8 >= 16
b & 64 <> 0
b & i < 0
l & 255 = 7
l | 1 = 41
i | j < 8
i | 3 BETWEEN 0 AND 3
b | l < 0
i ^ 7 = 0
i ^ j > 31
l ^ -1 = -8
~i = -8
~b > 100
~l >= 0
(i & 3) + (j | 4) = 5
i & j & 7 = 7
~(i | 8) = -13
-- numbers
positive(i) > 30
positive(x) = 1.5D
positive(s) = 2024
nanvl(x, 0D) > 3
nanvl(x, z) < 0
nanvl(x, i) = 40
nanvl(x, NULL) IS NULL
+i > 30
+s = '2024.0'
+s + 1 = 2025
-- dates out of parts
make_date(year, month, day) = DATE '2024-03-01'
make_date(year, month, day) >= DATE '2024-03-01'
make_date(year, month, 1) < DATE '2024-01-01'
make_date(year, 1, 1) BETWEEN DATE '2024-01-01' AND DATE '2024-12-31'
make_date(2024, month, day) IS NOT NULL
make_date(year, month, day) = d
make_date(year, 2, 29) IS NULL
to_date(concat(ys, '-', ms, '-', ds)) = DATE '2024-03-01'
to_date(concat_ws('-', ys, ms, ds)) >= DATE '2024-03-01'
CAST(ys || '-' || ms || '-' || ds AS DATE) < DATE '2024-01-15'
try_cast(concat_ws('-', ys, ms, ds) AS DATE) >= DATE '2024-03-01'
to_date(concat(year, '-', month, '-', day)) = DATE '2024-03-15'
to_date(concat_ws('-', year, lpad(month, 2, '0'), '01')) > DATE '2024-02-01'
concat_ws('-', year, month, day) = '2024-3-1'
concat_ws('-', s, t) > 'abc-2'
concat_ws(s, 'a', 'b') = 'a b'
make_date(CAST(ys AS INT), CAST(ms AS INT), CAST(ds AS INT)) = DATE '2024-03-01'
-- times out of text
try_to_date(s) = DATE '2024-03-01'
try_to_date(s) >= DATE '2024-02-29'
try_to_date(ts) = DATE '2024-03-01'
try_to_timestamp(s) = TIMESTAMP '2024-03-01 12:00:00'
try_to_timestamp(d) < TIMESTAMP '2024-01-01 00:00:00'
try_to_timestamp(s) IS NULL
d = try_to_date('2024-03-01')
d = try_to_date('2024-13-01')
d = try_to_date('01/03/2024', 'dd/MM/yyyy')
-- patterns
s ILIKE 'abc%'
s ILIKE 'k%'
s ILIKE 'KELVIN'
s ILIKE 'straß%'
s ILIKE 'ÉA'
s ILIKE '%bc'
s ILIKE 'i%'
s NOT ILIKE 'a%'
s ILIKE ANY ('abc%', 'eu-%')
s ILIKE 'a\\%b'
s ILIKE ''
s RLIKE '^abc'
s RLIKE '^abc-[0-9]+$'
s RLIKE '^(abc|eu-)'
s RLIKE '^(?:abc|eu-west)-1'
s RLIKE '^abc|^eu'
s RLIKE '^abc|eu'
s RLIKE 'abc'
s RLIKE '^ab*c'
s RLIKE '^abc?'
s RLIKE '^abc*'
s RLIKE '^abc+'
s RLIKE '^ab{0}c'
s RLIKE '^ab{1,2}c'
s RLIKE '^a\\.b'
s RLIKE '^a.b'
s RLIKE '^\\^abc'
s RLIKE '\\Aabc'
s RLIKE '^\\Qa.b\\E'
s RLIKE '(?i)^abc'
s RLIKE '(?m)^abc'
s RLIKE '(?x)^a b c'
s RLIKE '^[ab]bc'
s RLIKE '^abc$'
s RLIKE '^abc\\z'
s RLIKE '^'
s RLIKE '^$'
s RLIKE ''
s RLIKE '^(a|b)'
s RLIKE '^(a|b)?c'
s RLIKE '^(abc|abd)+$'
s RLIKE '^(a|)bc'
s RLIKE '^日本'
s RLIKE '^é'
s RLIKE '^eu-(west|north)-1$'
s NOT RLIKE '^abc'
regexp_like(s, '^eu-')
regexp(s, '^us')
-- parts of text
substr(s, 2) = 'bc'
substr(s, 5) = '1'
substr(s, 5) > '1'
substring(s, 2, 3) = 'bc-'
substring(s, 2, 3) = 'u-w'
substring(s, 4) >= 'w'
substring(s, -1) = '1'
substring(s, -2, 1) = '-'
substring(s, 0, 2) = 'ab'
substr(s, 2, 0) = ''
right(s, 2) = '-1'
split_part(s, '-', 1) = 'eu'
split_part(s, '-', 2) = 'west'
split_part(s, '-', 3) = '1'
split_part(s, '-', -1) = '1'
split_part(s, '-', 9) = ''
split_part(s, '--', 2) = 'y'
split_part(s, '', 1) = 'a'
substring_index(s, '-', 1) = 'eu'
substring_index(s, '-', 2) = 'eu-west'
substring_index(s, '-', -1) = '1'
substring_index(s, '-', 0) = ''
substring_index(s, '', 1) = ''
substring_index(s, '-', 9) = 'abc'
trim(s) = 'abc'
ltrim(s) = 'abc'
ltrim(s) > 'b'
rtrim(s) = 'abc'
rtrim(s) < 'abc'
trim(s) LIKE 'abc%'
upper(s) = 'ABC'
lower(substring(s, 1, 2)) = 'eu'
concat(s, '-x') = 'a-x'
length(s) > 30
-- transforms of Iceberg
ice.system.days(ts) = DATE '2024-03-01'
ice.system.days(ts) < DATE '1970-01-01'
ice.system.days(n) >= DATE '2024-03-01'
ice.system.days(d) = DATE '2024-03-01'
ice.system.hours(ts) = 0
ice.system.hours(ts) < 0
ice.system.hours(n) >= 474816
ice.system.months(ts) = 650
ice.system.months(d) < 0
ice.system.months(n) BETWEEN 649 AND 650
ice.system.years(ts) = 54
ice.system.years(d) < 0
ice.system.years(ts) = -1
ice.system.bucket(16, i) = 3
ice.system.bucket(16, l) IN (1, 2, 3)
ice.system.bucket(4, s) = 1
ice.system.bucket(4, d) = 1
ice.system.bucket(4, ts) <> 1
ice.system.truncate(10, i) = 20
ice.system.truncate(10, i) < 0
ice.system.truncate(7, l) >= 14
ice.system.truncate(2, s) = 'ab'
ice.system.truncate(2, s) > 'ab'
