/* Fills tables, joins, sorts, groups, updates, deletes and rolls back; prints what the queries give. */
#include "sqlite3.h"
#include <stdio.h>
#include <stdlib.h>

static int print_row(void *unused, int columns, char **values, char **names) {
  (void)unused;
  (void)names;
  for (int i = 0; i < columns; i++)
    printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
  putchar('\n');
  return 0;
}

static void run(sqlite3 *db, const char *sql) {
  char *message = NULL;
  if (sqlite3_exec(db, sql, print_row, NULL, &message) != SQLITE_OK) {
    printf("error: %s\n", message);
    sqlite3_free(message);
  }
}

int main(int argc, char **argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 1000;
  sqlite3 *db;
  /* VACUUM gives its copy a random name, which is parsed: the same in every run. */
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 7, (sqlite3 *)NULL);
  if (sqlite3_open(":memory:", &db) != SQLITE_OK)
    return 1;
  run(db, "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, class INT);"
          "CREATE TABLE class(id INTEGER PRIMARY KEY, label TEXT);"
          "CREATE INDEX by_class ON item(class, price);"
          "INSERT INTO class VALUES (0,'zero'),(1,'one'),(2,'two'),(3,'three'),(4,'four');");
  sqlite3_stmt *insert;
  sqlite3_prepare_v2(db, "INSERT INTO item VALUES (?, ?, ?, ?)", -1, &insert, NULL);
  run(db, "BEGIN");
  for (int i = 0; i < rows; i++) {
    char name[32];
    snprintf(name, sizeof name, "item-%d", (i * 7919) % 10007);
    sqlite3_bind_int(insert, 1, i);
    sqlite3_bind_text(insert, 2, name, -1, SQLITE_TRANSIENT);
    sqlite3_bind_double(insert, 3, (double)(i * 31 % 997) / 7.0);
    sqlite3_bind_int(insert, 4, i % 6);
    sqlite3_step(insert);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  run(db, "COMMIT");
  run(db, "SELECT label, count(*), round(sum(price), 2) FROM item LEFT JOIN class ON class.id = item.class GROUP BY label ORDER BY 2 DESC, 1");
  run(db, "SELECT name, round(price, 3) FROM item WHERE name LIKE '%9_' ORDER BY price DESC, name LIMIT 5");
  run(db, "UPDATE item SET price = price * 1.1 WHERE class IN (SELECT id FROM class WHERE label > 'one')");
  run(db, "BEGIN; DELETE FROM item WHERE id % 3 = 0; SELECT count(*) FROM item; ROLLBACK; SELECT count(*) FROM item");
  run(db, "WITH RECURSIVE f(n, a, b) AS (SELECT 1, 0, 1 UNION ALL SELECT n + 1, b, a + b FROM f WHERE n < 40) SELECT max(a) FROM f");
  run(db, "SELECT * FROM no_such_table");
  run(db, "SELECT substr(group_concat(name, ','), 1, 60), upper(min(name)), length(max(name)) FROM item");
  run(db, "DROP TABLE item; VACUUM; PRAGMA integrity_check");
  sqlite3_close(db);
  return 0;
}
