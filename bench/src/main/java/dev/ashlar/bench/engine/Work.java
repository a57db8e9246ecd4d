package dev.ashlar.bench.engine;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/** What clients do all the time, each at places of its own choice. */
enum Work {
  OVERWRITE_4K("overwrite 4 KiB", Kind.RANDOM, 4 << 10, 0),
  OVERWRITE_8K("overwrite 8 KiB", Kind.RANDOM, 8 << 10, 0),
  OVERWRITE_16K("overwrite 16 KiB", Kind.RANDOM, 16 << 10, 0),
  READ_4K("read 4 KiB", Kind.RANDOM, 4 << 10, 100),
  READ_8K("read 8 KiB", Kind.RANDOM, 8 << 10, 100),
  READ_16K("read 16 KiB", Kind.RANDOM, 16 << 10, 100),
  MIX_16K("70 % read, 30 % overwrite 16 KiB", Kind.RANDOM, 16 << 10, 70),
  APPEND_4K("append 4 KiB", Kind.APPEND, 4 << 10, 0),
  APPEND_8K("append 8 KiB", Kind.APPEND, 8 << 10, 0),
  APPEND_16K("append 16 KiB", Kind.APPEND, 16 << 10, 0),
  READ_4M("read 4 MiB", Kind.RANDOM, 4 << 20, 100),
  PUT_4M("put 4 MiB", Kind.PUT, 4 << 20, 0);

  private enum Kind {
    /** At offsets that are multiples of the size, of objects that all clients share. */
    RANDOM,
    /** To an object that each client has for itself: two that append at once would conflict. */
    APPEND,
    PUT
  }

  private final String title;
  private final Kind kind;
  private final int bytes;
  private final int readPercent;

  Work(String title, Kind kind, int bytes, int readPercent) {
    this.title = title;
    this.kind = kind;
    this.bytes = bytes;
    this.readPercent = readPercent;
  }

  String title() {
    return title;
  }

  /** The objects that are there from the beginning. */
  record Objects(int count, long bytes) {
    String key(int number) {
      return "object-" + number;
    }
  }

  /** One client. */
  final class Client {
    private final LocalEngine engine;
    private final Objects objects;
    private final String ownKey;
    private final ByteBuffer payload;
    private final SplittableRandom random;
    private long appended;

    Client(LocalEngine engine, Objects objects, int number, ByteBuffer payload, long seed) {
      this.engine = engine;
      this.objects = objects;
      this.ownKey = "client-" + number;
      this.payload = payload.slice(0, bytes);
      this.random = new SplittableRandom(seed + number);
    }

    /** Also removes what the client wrote to its own object, which becomes empty. */
    void reset()
        throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
      if (kind != Kind.RANDOM) {
        engine.put(ownKey, ByteBuffer.allocate(0), 1);
        appended = 0;
      }
    }

    /** False if others came first. */
    boolean operation()
        throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
      return switch (kind) {
        case RANDOM -> random();
        case APPEND -> append();
        case PUT -> {
          engine.put(ownKey, payload, 1);
          yield true;
        }
      };
    }

    private boolean random()
        throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
      String key = objects.key(random.nextInt(objects.count()));
      long offset = random.nextLong(objects.bytes() / bytes) * bytes;
      if (random.nextInt(100) < readPercent) {
        engine.read(key, offset, bytes);
        return true;
      }
      return engine.change(key, offset, payload);
    }

    private boolean append()
        throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
      boolean isDone = engine.change(ownKey, appended, payload);
      appended += isDone ? bytes : 0;
      return isDone;
    }
  }
}
