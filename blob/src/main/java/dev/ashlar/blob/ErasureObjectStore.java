package dev.ashlar.blob;

import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.BlobId;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** {@link ObjectStore} on erasure-coded drives. */
public final class ErasureObjectStore implements ObjectStore {
  private final Engine engine;
  private final AtomicLong sequence = new AtomicLong();
  // What short and absent strips are encoded as; never written to.
  private final ByteBuffer zeros;

  public ErasureObjectStore(Engine engine) {
    this.engine = engine;
    EngineConfig config = engine.config();
    int shardBytes =
        EngineConfig.windowStripes(config.profile(), config.windowBytes())
            * config.profile().stripeUnit();
    this.zeros = ByteBuffer.allocateDirect(shardBytes);
  }

  @Override
  public ObjectWriter newWriter(long expectedLength) {
    return new ErasureObjectWriter(engine, this::nextId, zeros, expectedLength);
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
