package dev.ashlar.gateway.operation.shared;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.RunningDigest;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.model.PlacedProfile;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a range of an object and writes it as new blobs of a profile, encrypted with another key or
 * not at all.
 *
 * @param checksum to be computed over the range
 * @param key that encrypts the new bytes; null: they are stored as they are
 */
public record Reencoding(
    ObjectContent source,
    ByteRange range,
    PlacedProfile profile,
    ChecksumAlgorithm checksum,
    @Nullable NewKey key) {

  /**
   * What was written.
   *
   * @param etag MD5 of the bytes, if it may be known
   * @param checksum of the bytes
   * @param run null: they are not encrypted
   */
  public record Written(String etag, ChecksumValue checksum, @Nullable EncryptedRun run) {}

  /** Makes the command that gives a meaning to the new blobs. */
  public interface Use {
    Command.Builder of(Written written, List<NewBlob> blobs);
  }

  /** The result of a command, and what it was made with. */
  public record Ended(CommandResult result, Written written) {}

  /** Copies the bytes and submits the command. */
  public Ended run(Backend backend, Use use) throws UnavailableException, InterruptedException {
    RunningDigest digest = ChecksumKind.of(checksum).start();
    try (ContentWriter writer =
        ContentWriter.begin(backend, profile.number(), range.length(), key)) {
      source.read(
          range,
          piece -> {
            digest.update(piece.bytes().duplicate());
            writer.write(new ShardByteBuf(piece));
          });
      Written written =
          new Written(writer.finishWithEtag(backend.random()), value(digest), writer.run());
      return new Ended(writer.commit(blobs -> use.of(written, blobs)), written);
    }
  }

  private ChecksumValue value(RunningDigest digest) {
    return ChecksumValue.newBuilder()
        .setAlgorithm(checksum)
        .setType(ChecksumType.CHECKSUM_FULL_OBJECT)
        .setValue(ByteString.copyFrom(digest.value()))
        .build();
  }
}
