package dev.ashlar.bench.codec;

import dev.ashlar.codec.checksum.Crc32c;
import dev.ashlar.codec.checksum.Crc64Nvme;
import dev.ashlar.codec.checksum.Sha256Pair;
import dev.ashlar.codec.isal.NativeMd5;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;
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
  private MessageDigest jdkMd5;
  private MessageDigest jdkSha256;
  private NativeMd5.@Nullable Lanes connections;

  @Setup
  public void prepare() throws NoSuchAlgorithmException {
    array = new byte[bytes];
    new Random(1).nextBytes(array);
    direct = ByteBuffer.allocateDirect(bytes).put(array).flip();
    jdkMd5 = MessageDigest.getInstance("MD5");
    jdkSha256 = MessageDigest.getInstance("SHA-256");
    connections = NativeMd5.isAvailable() ? new NativeMd5.Lanes() : null;
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

  @Benchmark
  public int[] md5Times1() {
    return md5(1);
  }

  @Benchmark
  public int[] md5Times4() {
    return md5(4);
  }

  @Benchmark
  public int[] md5Times8() {
    return md5(8);
  }

  @Benchmark
  public int[] md5Times16() {
    return md5(16);
  }

  /** Of so many messages of {@link #bytes} each; only where the native library is. */
  private int[] md5(int messages) {
    NativeMd5.Lanes abreast = Objects.requireNonNull(connections);
    int[] state = new int[NativeMd5.STATE_WORDS];
    for (int connection = 0; connection < messages; connection++) {
      abreast.set(connection, state, direct);
    }
    abreast.update(messages, bytes / NativeMd5.BLOCK_BYTES);
    abreast.get(0, state);
    return state;
  }

  @Benchmark
  public byte[] md5ByJdk() {
    jdkMd5.update(direct.duplicate());
    return jdkMd5.digest();
  }

  @Benchmark
  public List<byte[]> sha256Times1() {
    return Sha256Pair.hash(List.of(List.of(direct)));
  }

  @Benchmark
  public List<byte[]> sha256Times2() {
    return Sha256Pair.hash(List.of(List.of(direct), List.of(direct)));
  }

  @Benchmark
  public byte[] sha256ByJdk() {
    jdkSha256.update(direct.duplicate());
    return jdkSha256.digest();
  }

  @Benchmark
  public byte[] sha256OfArrayByJdk() {
    return jdkSha256.digest(array);
  }
}
