package dev.ashlar.bench.load;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The measured work: endless, and for each connection the same whenever it begins with the same
 * seed.
 */
final class Mixture implements Work {
  private final DataSet data;
  private final long blockBytes;
  private final String label;
  private final Kind[] hundred = new Kind[100];
  private final Cursor[] connections;
  private final boolean isRandom;

  /** Where one connection is. */
  private final class Cursor {
    final SplittableRandom random;
    final String prefix;
    long block;
    int written;
    int deleted;
    int appended;
    long appendOffset;

    Cursor(int connection, SplittableRandom random) {
      this.random = random;
      prefix = label + "-" + connection + "-";
      // Sequential connections begin evenly spread over the objects.
      block = blocks() * connection / connections.length;
    }

    /** In a blob that is read or patched. */
    Operation within(Kind kind) {
      long at = isRandom ? random.nextLong(blocks()) : block++ % blocks();
      int number = (int) (at / blocksPerObject());
      boolean isWhole = blockBytes == data.objectBytes() && kind == Kind.READ;
      long offset = isWhole ? Operation.WHOLE : at % blocksPerObject() * blockBytes;
      return new Operation(kind, data.key(number), offset, blockBytes);
    }

    Operation write() {
      return new Operation(
          Kind.WRITE, prefix + "w" + written++, Operation.WHOLE, data.objectBytes());
    }

    /** Writes, as long as all that was written is deleted. */
    Operation delete() {
      return deleted == written
          ? write()
          : new Operation(Kind.DELETE, prefix + "w" + deleted++, Operation.WHOLE, 0);
    }

    Operation append() {
      return new Operation(Kind.APPEND, prefix + "a" + appended, appendOffset, blockBytes);
    }
  }

  /**
   * @param label keeps the keys of one run apart from another's
   */
  Mixture(Load load, DataSet data, int connections, String label) {
    this.data = data;
    this.label = label;
    blockBytes = load.blockBytes();
    isRandom = load.isRandom();
    for (int point = 0; point < hundred.length; point++) {
      hundred[point] = load.mix().at(point);
    }
    this.connections = new Cursor[connections];
    SplittableRandom random = new SplittableRandom(load.seed());
    for (int connection = 0; connection < connections; connection++) {
      this.connections[connection] = new Cursor(connection, random.split());
    }
  }

  private long blocksPerObject() {
    return data.objectBytes() / blockBytes;
  }

  private long blocks() {
    return blocksPerObject() * data.objects();
  }

  @Override
  public Operation next(int connection) {
    Cursor cursor = connections[connection];
    Kind kind = hundred[cursor.random.nextInt(hundred.length)];
    return switch (kind) {
      case READ, PATCH -> cursor.within(kind);
      case APPEND -> cursor.append();
      case WRITE -> cursor.write();
      case DELETE -> cursor.delete();
      case STAT ->
          new Operation(kind, data.key(cursor.random.nextInt(data.objects())), Operation.WHOLE, 0);
      case REPLACE ->
          new Operation(
              kind,
              data.key(cursor.random.nextInt(data.objects())),
              Operation.WHOLE,
              data.objectBytes());
      case LIST ->
          Operation.list(
              "list-type=2&start-after=" + data.key(cursor.random.nextInt(data.objects())));
    };
  }

  /** An append whose outcome is not known, or behind which no block has room, ends its object. */
  @Override
  public void ended(int connection, Operation operation, boolean isDone) {
    if (operation.kind() != Kind.APPEND) {
      return;
    }
    Cursor cursor = connections[connection];
    cursor.appendOffset += blockBytes;
    if (!isDone || cursor.appendOffset + blockBytes > data.objectBytes()) {
      cursor.appended++;
      cursor.appendOffset = 0;
    }
  }

  /** The objects that it made, or may have made. */
  List<String> keys() {
    List<String> keys = new ArrayList<>();
    for (Cursor cursor : connections) {
      for (int number = cursor.deleted; number < cursor.written; number++) {
        keys.add(cursor.prefix + "w" + number);
      }
      int appended = cursor.appended + (cursor.appendOffset > 0 ? 1 : 0);
      for (int number = 0; number < appended; number++) {
        keys.add(cursor.prefix + "a" + number);
      }
    }
    return keys;
  }
}
