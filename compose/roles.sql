-- The roles of a server that compose.yaml starts: run once by psql, as the superuser, in the database pinakes.
--   pinakes         owns the database; loads, indexes, runs and evaluates
--   pinakes_reader  reads what Pinakes has made; `pinakes sql` asks as it, and a person may log in as it
\set ON_ERROR_STOP on
\getenv owner_password PINAKES_POSTGRES_PASSWORD
\getenv reader_password PINAKES_READER_PASSWORD

CREATE ROLE pinakes LOGIN PASSWORD :'owner_password';
CREATE ROLE pinakes_reader LOGIN PASSWORD :'reader_password';
GRANT pinakes_reader TO pinakes;

-- Where pinakes_reader itself logs in: what it leaves open or running is ended.
ALTER ROLE pinakes_reader SET default_transaction_read_only = on;
ALTER ROLE pinakes_reader SET statement_timeout = '10min';
ALTER ROLE pinakes_reader SET idle_in_transaction_session_timeout = '10min';

ALTER DATABASE :"DBNAME" OWNER TO pinakes;
REVOKE ALL ON DATABASE :"DBNAME" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"DBNAME" TO pinakes_reader;
REVOKE CONNECT ON DATABASE postgres FROM PUBLIC;
CREATE EXTENSION vector;

-- The superuser is reached from inside the container alone.
ALTER ROLE CURRENT_USER PASSWORD NULL;
