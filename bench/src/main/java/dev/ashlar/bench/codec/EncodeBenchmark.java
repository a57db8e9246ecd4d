package dev.ashlar.bench.codec;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.codec.Codecs;
import dev.ashlar.codec.ErasureCode;
import dev.ashlar.codec.isal.IsalKernel;
import dev.ashlar.codec.isal.IsalLinearMap;
import dev.ashlar.codec.isal.NativeLibrary;
import dev.ashlar.codec.portable.CodingMatrix;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Encoding: ISA-L from Java, the same library in a loop in C, and the Java codec. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // JMH calls the set-up first
public class EncodeBenchmark {
  private static final int TIMES_IN_C = 256;

  @Param({"4+2", "6+2", "8+3"})
  public String profile;

  @Param("16384")
  public int shardBytes;

  private ByteBuffer[] data;
  private ByteBuffer[] parity;
  private ErasureCode java;

  /** Only where ISA-L is, as is what uses it. */
  private ErasureCode isal;

  private IsalLinearMap inC;

  @Setup
  public void prepare() {
    CodeShape shape = CodeShape.parse(profile);
    int k = shape.dataShards();
    int m = shape.parityShards();
    ByteBuffer[] shards = shape.shards(shardBytes);
    data = shape.data(shards);
    parity = shape.parity(shards);
    java = Codecs.create(CodecChoice.JAVA, k, m);
    if (NativeLibrary.failure() == null) {
      isal = Codecs.create(CodecChoice.ISAL, k, m);
      inC = new IsalKernel().prepare(CodingMatrix.of(k, m).parityRows());
    }
  }

  @Benchmark
  public void isal() {
    isal.encode(data, parity);
  }

  @Benchmark
  @OperationsPerInvocation(TIMES_IN_C)
  public void isalCalledFromC() {
    inC.multiplyRepeatedly(data, parity, shardBytes, TIMES_IN_C);
  }

  @Benchmark
  public void java() {
    java.encode(data, parity);
  }
}
