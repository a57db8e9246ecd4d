package dev.ashlar.bench.codec;

import dev.ashlar.codec.checksum.Crc32c;
import dev.ashlar.codec.checksum.Crc64Nvme;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.Checksum;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Checksums of one strip. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up first
public class ChecksumBenchmark {
  @Param("16384")
  public int bytes;

  private ByteBuffer direct;
  private byte[] array;

  @Setup
  public void prepare() {
    array = new byte[bytes];
    new Random(1).nextBytes(array);
    direct = ByteBuffer.allocateDirect(bytes).put(array).flip();
  }

  @Benchmark
  public int[] crc32cOfBlocks() {
    return Crc32c.blockCrcs(direct);
  }

  @Benchmark
  public long crc64Nvme() {
    Crc64Nvme crc = new Crc64Nvme();
    crc.update(direct.duplicate());
    return crc.getValue();
  }

  @Benchmark
  public long crc64NvmeOfArray() {
    Checksum crc = new Crc64Nvme();
    crc.update(array, 0, bytes);
    return crc.getValue();
  }

  @Benchmark
  public long crc64NvmeInJava() {
    Checksum crc = Crc64Nvme.inJava();
    crc.update(array, 0, bytes);
    return crc.getValue();
  }
}
