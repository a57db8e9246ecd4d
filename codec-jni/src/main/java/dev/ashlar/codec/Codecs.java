package dev.ashlar.codec;

import dev.ashlar.codec.isal.IsalLinearMap;
import dev.ashlar.codec.isal.NativeLibrary;
import dev.ashlar.codec.portable.JavaLinearMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates erasure codes. */
public final class Codecs {
  private static final Logger LOG = LoggerFactory.getLogger(Codecs.class);
  private static final AtomicBoolean warned = new AtomicBoolean();

  private Codecs() {}

  /**
   * @throws IllegalStateException if ISA-L is required and its library does not load; the message
   *     says why
   */
  public static ErasureCode create(CodecChoice choice, int dataShards, int parityShards) {
    String failure = NativeLibrary.failure();
    if (choice == CodecChoice.AUTO && failure != null && warned.compareAndSet(false, true)) {
      LOG.warn("Erasure coding runs in Java, several times slower than ISA-L: {}", failure);
    }
    return switch (choice == CodecChoice.AUTO && failure != null ? CodecChoice.JAVA : choice) {
      case JAVA -> new ReedSolomon("java", JavaLinearMap::new, dataShards, parityShards);
      case ISAL, AUTO -> new ReedSolomon("isal", IsalLinearMap::new, dataShards, parityShards);
    };
  }
}
