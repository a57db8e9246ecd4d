package dev.ashlar.metadata.table;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads rows as messages. A row that cannot be parsed is damaged and must not be used. */
public final class Rows {
  private Rows() {}

  public static <T extends MessageLite> Optional<T> get(Table table, byte[] key, Parser<T> parser) {
    byte[] value = table.get(key);
    return value == null ? Optional.empty() : Optional.of(parse(value, parser));
  }

  /** All rows of a table, in the order of their keys. */
  public static <T extends MessageLite> List<T> all(Table table, char name, Parser<T> parser) {
    List<T> rows = new ArrayList<>();
    byte[] from = Keys.table(name);
    try (Table.Cursor cursor = table.cursor(from, Keys.behind(from))) {
      for (; cursor.isValid(); cursor.next()) {
        rows.add(parse(cursor.value(), parser));
      }
    }
    return rows;
  }

  public static <T extends MessageLite> T parse(byte[] value, Parser<T> parser) {
    try {
      return parser.parseFrom(value);
    } catch (InvalidProtocolBufferException e) {
      throw new TableFailureException("damaged metadata row", e);
    }
  }
}
