package dev.ashlar.gateway.operation.shared;

import com.google.protobuf.ByteString;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.move.RangeCopy;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.RunningDigest;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.UnavailableException;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.model.PlacedProfile;
import java.util.HexFormat;
import java.util.List;

/**
 * Reads a range of an object and writes it as new blobs of a profile.
 *
 * @param range not empty
 * @param checksum to be computed over the range
 */
public record Reencoding(
    ObjectRead source, ByteRange range, PlacedProfile profile, ChecksumAlgorithm checksum) {

  /**
   * What was written.
   *
   * @param etag MD5 of the bytes
   * @param checksum of the bytes
   */
  public record Written(String etag, ChecksumValue checksum) {}

  /** Makes the command that gives a meaning to the new blobs. */
  public interface Use {
    Command.Builder of(Written written, List<NewBlob> blobs);
  }

  /** The result of a command, and what it was made with. */
  public record Ended(CommandResult result, Written written) {}

  /** Copies the bytes and submits the command. */
  public Ended run(Backend backend, Use use) throws UnavailableException, InterruptedException {
    ChecksumKind kind = ChecksumKind.of(checksum);
    RunningDigest digest = kind.start();
    return new RangeCopy(source, range, profile.number())
        .run(backend.store(), digest::update, writer -> commit(writer, digest, use));
  }

  private Ended commit(ObjectWriter writer, RunningDigest digest, Use use)
      throws UnavailableException, InterruptedException {
    Written written =
        new Written(
            HexFormat.of().formatHex(writer.md5()),
            ChecksumValue.newBuilder()
                .setAlgorithm(checksum)
                .setType(ChecksumType.CHECKSUM_FULL_OBJECT)
                .setValue(ByteString.copyFrom(digest.value()))
                .build());
    return new Ended(writer.commit(blobs -> use.of(written, blobs)), written);
  }
}
