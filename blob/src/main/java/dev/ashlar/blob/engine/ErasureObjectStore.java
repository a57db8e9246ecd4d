package dev.ashlar.blob.engine;

import dev.ashlar.blob.DataSink;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.change.ChangePieces;
import dev.ashlar.blob.change.ErasureObjectChange;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.fold.FoldScheduler;
import dev.ashlar.blob.read.ObjectReader;
import dev.ashlar.blob.read.WindowRead;
import dev.ashlar.blob.write.ErasureObjectWriter;
import dev.ashlar.codec.checksum.Md5Lanes;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;

/** {@link ObjectStore} on erasure-coded drives. */
public final class ErasureObjectStore implements ObjectStore {
  private final EngineContext engine;
  private final FoldScheduler folds;
  private final AtomicLong sequence = new AtomicLong();
  private final Md5Lanes lanes = new Md5Lanes();
  // What short and absent strips are encoded as; never written to.
  private final ByteBuffer zeros;

  public ErasureObjectStore(EngineContext engine, FoldScheduler folds) {
    this.engine = engine;
    this.folds = folds;
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
    long read = 2 * WindowRead.bytesMax(profile, window);
    long needed = Math.max(read, ErasureObjectChange.leastBytes(config));
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
  public ObjectChange newChange(ObjectRead object, long offset, long expectedLength) {
    ErasureObjectChange.Beginning beginning =
        (present, expected, lengthMax, memory) ->
            new ChangePieces(
                engine,
                present,
                offset,
                expected,
                lengthMax,
                nextAttempt(),
                this::nextId,
                zeros,
                memory);
    return new ErasureObjectChange(engine, folds, beginning, object, offset, expectedLength);
  }

  @Override
  public void read(ObjectRead object, ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    new ObjectReader(engine, object).read(range, sink);
  }

  private AttemptId nextAttempt() {
    return new AttemptId(engine.metadata().session(), sequence.getAndIncrement());
  }

  /** An id that nothing else will have. */
  public BlobId nextId() {
    return new BlobId(engine.metadata().session(), sequence.getAndIncrement());
  }
}
