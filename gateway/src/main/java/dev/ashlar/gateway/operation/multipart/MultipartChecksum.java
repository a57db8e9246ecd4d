package dev.ashlar.gateway.operation.multipart;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Digests;
import dev.ashlar.gateway.checksum.RunningDigest;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.UploadRow;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;

/** Computes the ETag and the checksum of a multipart object from those of its parts. */
final class MultipartChecksum {
  private MultipartChecksum() {}

  /** The MD5 of the parts' MD5s, a hyphen, and their number. */
  static String etag(List<String> partEtags) {
    MessageDigest md5 = Digests.md5();
    partEtags.forEach(etag -> md5.update(HexFormat.of().parseHex(etag)));
    return HexFormat.of().formatHex(md5.digest()) + "-" + partEtags.size();
  }

  /** The algorithm that the parts of this upload must have. */
  static ChecksumAlgorithm algorithm(UploadRow upload) {
    return upload.getChecksumAlgorithm() == ChecksumAlgorithm.CHECKSUM_NONE
        ? ChecksumAlgorithm.CHECKSUM_CRC64NVME
        : upload.getChecksumAlgorithm();
  }

  /** The checksum of the object; none when a part has none of the upload's algorithm. */
  static ChecksumValue of(UploadRow upload, List<PartRow> parts) {
    ChecksumAlgorithm algorithm = algorithm(upload);
    for (PartRow part : parts) {
      if (part.getChecksum().getAlgorithm() != algorithm) {
        return ChecksumValue.getDefaultInstance();
      }
    }
    ChecksumKind kind = ChecksumKind.of(algorithm);
    ChecksumValue.Builder checksum =
        ChecksumValue.newBuilder().setAlgorithm(algorithm).setType(upload.getChecksumType());
    return upload.getChecksumType() == ChecksumType.CHECKSUM_COMPOSITE
        ? checksum.setValue(composite(kind, parts)).setPartCount(parts.size()).build()
        : checksum.setValue(fullObject(kind, parts)).build();
  }

  private static ByteString fullObject(ChecksumKind kind, List<PartRow> parts) {
    ByteString crc = ByteString.copyFrom(kind.start().value());
    for (PartRow part : parts) {
      crc = kind.append(crc, part.getChecksum().getValue(), part.getSize());
    }
    return crc;
  }

  private static ByteString composite(ChecksumKind kind, List<PartRow> parts) {
    RunningDigest digest = kind.start();
    parts.forEach(part -> digest.update(part.getChecksum().getValue().asReadOnlyByteBuffer()));
    return ByteString.copyFrom(digest.value());
  }
}
