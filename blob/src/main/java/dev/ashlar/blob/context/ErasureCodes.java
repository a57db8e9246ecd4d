package dev.ashlar.blob.context;

import dev.ashlar.codec.CodecChoice;
import dev.ashlar.codec.Codecs;
import dev.ashlar.codec.ErasureCode;
import dev.ashlar.protocol.model.Profile;
import java.util.concurrent.ConcurrentHashMap;

/** One codec per k and m, created on first use. */
public final class ErasureCodes implements AutoCloseable {
  private record Shape(int dataShards, int parityShards) {}

  private final CodecChoice choice;
  private final ConcurrentHashMap<Shape, ErasureCode> codes = new ConcurrentHashMap<>();

  public ErasureCodes(CodecChoice choice) {
    this.choice = choice;
  }

  public ErasureCode of(Profile profile) {
    return codes.computeIfAbsent(
        new Shape(profile.dataShards(), profile.parityShards()),
        shape -> Codecs.create(choice, shape.dataShards(), shape.parityShards()));
  }

  @Override
  public void close() {
    codes.values().forEach(ErasureCode::close);
  }
}
