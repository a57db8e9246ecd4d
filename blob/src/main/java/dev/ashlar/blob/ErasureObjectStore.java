package dev.ashlar.blob;

import dev.ashlar.codec.checksum.Md5Lanes;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** {@link ObjectStore} on erasure-coded drives. */
public final class ErasureObjectStore implements ObjectStore {
  private final Engine engine;
  private final AtomicLong sequence = new AtomicLong();
  private final Md5Lanes lanes = new Md5Lanes();
  // What short and absent strips are encoded as; never written to.
  private final ByteBuffer zeros;

  public ErasureObjectStore(Engine engine) {
    this.engine = engine;
    EngineConfig config = engine.config();
    checkMemory(config, engine.memory());
    engine.metrics().watch(lanes);
    int shardBytes =
        EngineConfig.windowStripes(config.profile(), config.windowBytes())
            * config.profile().stripeUnit();
    this.zeros = ByteBuffer.allocateDirect(shardBytes);
  }

  /** A single request must fit, or it would never be served. */
  private static void checkMemory(EngineConfig config, MemoryBudget memory) {
    Profile profile = config.profile();
    int window =
        EngineConfig.windowStripes(profile, config.leastWindowBytes()) * profile.stripeBytes();
    long needed =
        Math.max(2 * WindowRead.bytesMax(profile, window), StripeBatch.bytesMax(profile, window));
    if (needed > memory.largestBytes()) {
      throw new IllegalArgumentException(
          "a request of profile "
              + profile
              + " with stripe unit "
              + profile.stripeUnit()
              + " needs "
              + needed
              + " bytes of direct memory, but all requests together may have "
              + memory.largestBytes());
    }
  }

  @Override
  public ObjectWriter newWriter(long expectedLength) {
    return new ErasureObjectWriter(engine, this::nextId, zeros, lanes, expectedLength);
  }

  @Override
  public void read(ObjectRead object, ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    new ObjectReader(engine, object).read(range, sink);
  }

  private BlobId nextId() {
    return new BlobId(engine.metadata().session(), sequence.getAndIncrement());
  }
}
