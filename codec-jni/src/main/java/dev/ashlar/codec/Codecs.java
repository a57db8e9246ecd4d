package dev.ashlar.codec;

import dev.ashlar.codec.isal.IsalKernel;
import dev.ashlar.codec.isal.NativeLibrary;
import dev.ashlar.codec.portable.JavaKernel;
import dev.ashlar.codec.portable.Kernel;
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
    return new ReedSolomon(kernel(choice), dataShards, parityShards);
  }

  private static Kernel kernel(CodecChoice choice) {
    return switch (choice) {
      case JAVA -> new JavaKernel();
      case ISAL -> {
        NativeLibrary.require();
        yield new IsalKernel();
      }
      case AUTO -> {
        String failure = NativeLibrary.failure();
        if (failure == null) {
          yield new IsalKernel();
        }
        if (warned.compareAndSet(false, true)) {
          LOG.warn("Erasure coding runs in Java, several times slower than ISA-L: {}", failure);
        }
        yield new JavaKernel();
      }
    };
  }
}
