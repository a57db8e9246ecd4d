package dev.ashlar.blob.engine;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectStore.DataSink;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.change.ErasureObjectChange;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.fold.FoldScheduler;
import dev.ashlar.blob.read.ObjectReader;
import dev.ashlar.blob.read.WindowRead;
import dev.ashlar.blob.write.ErasureObjectWriter;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.codec.checksum.Md5Lanes;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@link ObjectStore} on erasure-coded drives. */
final class ErasureObjectStore implements ObjectStore {
  private static final Logger LOG = LoggerFactory.getLogger(ErasureObjectStore.class);

  private final EngineContext engine;
  private final FoldScheduler folds;
  private final Md5Lanes lanes;

  ErasureObjectStore(EngineContext engine, FoldScheduler folds, Md5Lanes lanes) {
    this.engine = engine;
    this.folds = folds;
    this.lanes = lanes;
  }

  /**
   * Refuses to start only for the profile that the store was made with: one may have been added,
   * and made the default, where there is more memory.
   */
  void checkMemory() {
    PlacementMap map = engine.metadata().placement();
    for (PlacedProfile placed : map.present()) {
      try {
        checkMemory(placed.profile());
      } catch (IllegalArgumentException e) {
        if (placed.number() == 0 && map.standardNumber() == 0) {
          throw e;
        }
        LOG.warn("Requests for profile {} are refused: {}", placed.name(), e.getMessage());
      }
    }
  }

  /**
   * A single request must fit, or it would never be served.
   *
   * @throws IllegalArgumentException when it does not
   */
  void checkMemory(Profile profile) {
    EngineConfig config = engine.config();
    int window =
        EngineConfig.windowStripes(profile, config.leastWindowBytes()) * profile.stripeBytes();
    long read = 2 * WindowRead.bytesMax(profile, window);
    long needed = Math.max(read, ErasureObjectChange.leastBytes(config, profile));
    long largest = engine.memory().largestBytes();
    if (needed > largest) {
      throw new IllegalArgumentException(
          "a request of profile %s with stripe unit %d needs %d bytes of direct memory, but all requests together may use %d"
              .formatted(profile, profile.stripeUnit(), needed, largest));
    }
  }

  @Override
  public ObjectWriter newWriter(int profile, long expectedLength) {
    return new ErasureObjectWriter(engine, lanes, lanes.start(), profile, expectedLength);
  }

  @Override
  public ObjectWriter newWriterWithoutMd5(int profile, long expectedLength) {
    return new ErasureObjectWriter(engine, lanes, null, profile, expectedLength);
  }

  @Override
  public Md5 newMd5() {
    return lanes.start();
  }

  @Override
  public ObjectWriter newWriter(long expectedLength) {
    return newWriter(engine.metadata().placement().standardNumber(), expectedLength);
  }

  @Override
  public ObjectChange newChange(ObjectRead object, long offset, long expectedLength) {
    return new ErasureObjectChange(engine, folds, object, offset, expectedLength);
  }

  @Override
  public void read(ObjectRead object, ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    new ObjectReader(engine, object).read(range, sink);
  }
}
