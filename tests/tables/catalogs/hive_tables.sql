CREATE DATABASE db LOCATION '{folder}/db'
CREATE TABLE db.days (id BIGINT, v STRING) PARTITIONED BY (day DATE, Country STRING) STORED AS PARQUET
INSERT INTO db.days VALUES (1,'a',DATE'2024-01-01','DE'), (2,'b',DATE'2024-01-02','D%41/x'), (3,NULL,DATE'2024-01-03',NULL)
INSERT INTO db.days VALUES (4,'d',DATE'2024-01-04','FR'), (NULL,'e',NULL,'DE')
ALTER TABLE db.days ADD PARTITION (day='2024-02-01', country='IT') LOCATION '{folder}/far/it'
INSERT INTO db.days VALUES (5,'f',DATE'2024-02-01','IT')
ALTER TABLE db.days ADD PARTITION (day='2024-02-02', country='DE') LOCATION '{folder}/db/days/day=2024-01-01/country=DE'
ALTER TABLE db.days ADD PARTITION (day='2024-03-01', country='ES')
CREATE TABLE db.numbers (a INT, b DECIMAL(10,2), s STRUCT<X:INT,y:STRING>, l ARRAY<INT>, t TIMESTAMP) PARTITIONED BY (n INT) STORED AS PARQUET
INSERT INTO db.numbers SELECT id, id / 2, named_struct('X', int(id), 'y', string(id)), array(int(id)), TIMESTAMP'2024-01-01 00:00:00' + make_interval(0,0,0,int(id)), int(id % 3) FROM range(9)
CREATE TABLE db.flat (a INT, c CHAR(3), w VARCHAR(5)) STORED AS PARQUET
INSERT INTO db.flat VALUES (1,'x','long'), (2,'y ','z')
INSERT INTO db.flat VALUES (3,'abc','')
CREATE TABLE db.of_spark (Id BIGINT, Name STRING, Day INT) USING parquet PARTITIONED BY (Day)
INSERT INTO db.of_spark VALUES (1,'a',1), (2,'b',2), (3,'c',NULL)
CREATE TABLE db.orc (a INT) PARTITIONED BY (p INT) STORED AS ORC
INSERT INTO db.orc VALUES (1,1), (2,2)
CREATE TABLE db.csv (a INT) PARTITIONED BY (p INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE
INSERT INTO db.csv VALUES (1,1), (2,2)
CREATE TABLE db.delta (id BIGINT, v STRING) USING delta
INSERT INTO db.delta VALUES (1,'a')
INSERT INTO db.delta VALUES (20,'b')
CREATE TABLE ice.db.iceberg (id BIGINT, v STRING) USING iceberg
INSERT INTO ice.db.iceberg VALUES (1,'a'), (2,'b')
CREATE VIEW db.view AS SELECT id FROM db.days
CREATE TABLE db.nothing (a INT) PARTITIONED BY (p INT) STORED AS PARQUET
