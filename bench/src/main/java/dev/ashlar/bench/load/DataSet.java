package dev.ashlar.bench.load;

import dev.ashlar.bench.process.BenchException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Objects of one size, put before anything is measured. */
public record DataSet(int objects, long objectBytes) {
  public DataSet {
    if (objects < 1 || objectBytes < 1) {
      throw new BenchException("There have to be objects, and bytes in them.");
    }
  }

  /**
   * @throws BenchException when a block of this load is larger than an object
   */
  public void requireRoomFor(Load load) {
    if (load.mix().usesBlocks() && load.blockBytes() > objectBytes) {
      throw new BenchException("A block cannot be larger than the object it is in.");
    }
  }

  String key(int number) {
    return "object-" + number;
  }

  List<String> keys() {
    return IntStream.range(0, objects).mapToObj(this::key).toList();
  }

  /** Puts all of them. */
  Work preparation() {
    AtomicInteger next = new AtomicInteger();
    return connection -> {
      int number = next.getAndIncrement();
      return number < objects
          ? new Operation(Kind.WRITE, key(number), Operation.WHOLE, objectBytes)
          : null;
    };
  }

  /** Deletes these objects. */
  static Work removal(List<String> keys) {
    AtomicInteger next = new AtomicInteger();
    return connection -> {
      int number = next.getAndIncrement();
      return number < keys.size()
          ? new Operation(Kind.DELETE, keys.get(number), Operation.WHOLE, 0)
          : null;
    };
  }
}
