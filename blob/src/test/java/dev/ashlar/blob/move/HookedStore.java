package dev.ashlar.blob.move;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;

/** A store in which something happens before and after each read. */
final class HookedStore implements ObjectStore {
  private final ObjectStore store;
  private Hook before = () -> {};
  private Hook after = () -> {};

  /** What happens. */
  interface Hook {
    void run() throws Exception;
  }

  HookedStore(ObjectStore store) {
    this.store = store;
  }

  void before(Hook hook) {
    before = hook;
  }

  /** After the bytes were read, and before they are committed. */
  void after(Hook hook) {
    after = hook;
  }

  /** Nothing happens any more. */
  void calm() {
    before = () -> {};
    after = () -> {};
  }

  private static void run(Hook hook) {
    try {
      hook.run();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public ObjectWriter newWriter(int profile, long expectedLength) {
    return store.newWriter(profile, expectedLength);
  }

  @Override
  public ObjectWriter newWriterWithoutMd5(int profile, long expectedLength) {
    return store.newWriterWithoutMd5(profile, expectedLength);
  }

  @Override
  public Md5 newMd5() {
    return store.newMd5();
  }

  @Override
  public ObjectWriter newWriter(long expectedLength) {
    return store.newWriter(expectedLength);
  }

  @Override
  public ObjectChange newChange(ObjectRead object, long offset, long expectedLength) {
    return store.newChange(object, offset, expectedLength);
  }

  @Override
  public void read(ObjectRead object, ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    run(before);
    store.read(object, range, sink);
    run(after);
  }
}
