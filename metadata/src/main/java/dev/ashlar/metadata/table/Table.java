package dev.ashlar.metadata.table;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Parser;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Rows ordered by the unsigned bytes of their keys. All tables share one key space. */
public interface Table {
  byte @Nullable [] get(byte[] key);

  /** A row as a message. */
  default <T extends MessageLite> Optional<T> row(byte[] key, Parser<T> parser) {
    return Optional.ofNullable(get(key)).map(value -> parse(value, parser));
  }

  /** All rows of a table as messages, in the order of their keys. */
  default <T extends MessageLite> List<T> rows(char name, Parser<T> parser) {
    List<T> rows = new ArrayList<>();
    forEach(Keys.table(name), (key, value) -> rows.add(parse(value, parser)));
    return rows;
  }

  /** A row that cannot be parsed is damaged and must not be used. */
  static <T extends MessageLite> T parse(byte[] value, Parser<T> parser) {
    try {
      return parser.parseFrom(value);
    } catch (InvalidProtocolBufferException e) {
      throw new TableFailureException("damaged metadata row", e);
    }
  }

  /** The rows from {@code from} (inclusive) to {@code to} (exclusive), standing on the first. */
  Cursor cursor(byte[] from, byte[] to);

  /** The rows whose keys begin with this prefix. */
  default Cursor cursor(byte[] prefix) {
    return cursor(prefix, Keys.behind(prefix));
  }

  /** Visits the keys and values of the rows whose keys begin with this prefix, in order. */
  default void forEach(byte[] prefix, BiConsumer<byte[], byte[]> visitor) {
    try (Cursor cursor = cursor(prefix)) {
      for (; cursor.isValid(); cursor.next()) {
        visitor.accept(cursor.key(), cursor.value());
      }
    }
  }

  /** A position in a table; must be closed. */
  interface Cursor extends AutoCloseable {
    /** False beyond the last row of the range. */
    boolean isValid();

    byte[] key();

    byte[] value();

    void next();

    /** Moves to the first row at or after this key. */
    void seek(byte[] key);

    @Override
    void close();
  }
}
