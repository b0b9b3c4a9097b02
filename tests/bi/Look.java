import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.TreeSet;

/**
 * Looks at a release as BI tools with a JDBC driver do. Prints a line per finding, fields apart by tabs; where
 * it says "refresh", somebody makes the release anew and answers with a line.
 *
 * usage: java -cp postgresql.jar Look.java URL TABLE      (user and password in PGUSER and PGPASSWORD)
 */
class Look {
    static final BufferedReader ANSWERS = new BufferedReader(new InputStreamReader(System.in));

    static void tell(Object... fields) {
        StringBuilder line = new StringBuilder();
        for (Object field : fields) {
            line.append(line.length() == 0 ? "" : "\t").append(String.valueOf(field).replace("\n", " "));
        }
        System.out.println(line);
    }

    static void refresh() throws Exception {
        tell("refresh");
        ANSWERS.readLine();
    }

    static void metadata(Connection connection, String table) throws SQLException {
        DatabaseMetaData data = connection.getMetaData();
        try (ResultSet found = data.getTables(null, "public", table, new String[] {"TABLE"})) {
            while (found.next()) {
                tell("table", found.getString("TABLE_NAME"), found.getString("REMARKS"));
            }
        }
        try (ResultSet found = data.getColumns(null, "public", table, "%")) {
            while (found.next()) {
                tell("column", found.getString("COLUMN_NAME"), found.getString("TYPE_NAME"), found.getInt("COLUMN_SIZE"),
                        found.getInt("DECIMAL_DIGITS"), found.getString("IS_NULLABLE"), found.getString("REMARKS"));
            }
        }
        try (ResultSet found = data.getPrimaryKeys(null, "public", table)) {
            tell("key", found.next());
        }
        try (ResultSet found = data.getTablePrivileges(null, "public", table)) {
            while (found.next()) {
                if (found.getString("GRANTEE").equals(data.getUserName())) {
                    tell("privilege", found.getString("PRIVILEGE"));
                }
            }
        }
    }

    static void emptyResult(Connection connection, String table) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM " + table + " LIMIT 0")) {
            ResultSetMetaData data = rows.getMetaData();
            for (int i = 1; i <= data.getColumnCount(); i++) {
                tell("result", data.getColumnName(i), data.getColumnClassName(i));
            }
            tell("rows", rows.next());
        }
    }

    static void plan(Connection connection, String table) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("EXPLAIN SELECT * FROM " + table)) {
            rows.next();
            tell("plan", rows.getString(1));
        }
    }

    /** A statement that the server has prepared, before and after a refresh. */
    static void prepared(Connection connection, String table) throws Exception {
        String query = "SELECT count(*), max(version) FROM " + table + " WHERE version >= ?";
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            for (int i = 0; i < 10; i++) {
                if (i == 8) {
                    refresh();
                }
                statement.setInt(1, 0);
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    tell("prepared", rows.getLong(1), rows.getInt(2));
                }
            }
        }
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT count(*) FROM pg_prepared_statements"
                        + " WHERE statement LIKE '%version >= $1'")) {
            rows.next();
            tell("statements", rows.getInt(1));
        }
    }

    /** Rows that are fetched a few at a time, with a refresh in the midst. */
    static void cursor(Connection connection, String table) throws Exception {
        connection.setAutoCommit(false);
        Set<Integer> versions = new TreeSet<>();
        int count = 0;
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(100);
            try (ResultSet rows = statement.executeQuery("SELECT version FROM " + table)) {
                while (rows.next()) {
                    versions.add(rows.getInt(1));
                    if (++count == 150) {
                        refresh();
                    }
                }
            }
        }
        connection.commit();
        connection.setAutoCommit(true);
        tell("cursor", count, versions.size());
    }

    static void refused(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT * FROM patients LIMIT 0");
        } catch (SQLException error) {
            tell("refused", error.getSQLState());
        }
    }

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        String table = arguments[1];
        try (Connection connection =
                DriverManager.getConnection(url, System.getenv("PGUSER"), System.getenv("PGPASSWORD"))) {
            metadata(connection, table);
            emptyResult(connection, table);
            plan(connection, table);
            prepared(connection, table);
            cursor(connection, table);
            refused(connection);
        }
    }
}
