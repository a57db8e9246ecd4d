package dev.ashlar.gateway.operation.multipart;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.checksum.FullObjectCrc;
import dev.ashlar.gateway.operation.shared.BodyIngest;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.PartRow;
import dev.ashlar.protocol.message.UploadRow;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** ETag and checksum of a multipart object, from those of its parts. */
final class MultipartChecksum {
  private MultipartChecksum() {}

  /** The MD5 of the parts' MD5s, a hyphen, and their number. */
  static String etag(List<String> partEtags) {
    MessageDigest md5 = BodyIngest.md5();
    partEtags.forEach(etag -> md5.update(HexFormat.of().parseHex(etag)));
    return HexFormat.of().formatHex(md5.digest()) + "-" + partEtags.size();
  }

  /** What the parts of this upload are to have. */
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
    ChecksumValue.Builder checksum =
        ChecksumValue.newBuilder().setAlgorithm(algorithm).setType(upload.getChecksumType());
    return upload.getChecksumType() == ChecksumType.CHECKSUM_COMPOSITE
        ? checksum.setValue(composite(algorithm, parts)).setPartCount(parts.size()).build()
        : checksum.setValue(fullObject(algorithm, parts)).build();
  }

  private static ByteString fullObject(ChecksumAlgorithm algorithm, List<PartRow> parts) {
    ByteString crc = FullObjectCrc.ofNothing(algorithm);
    for (PartRow part : parts) {
      crc = FullObjectCrc.append(algorithm, crc, part.getChecksum().getValue(), part.getSize());
    }
    return crc;
  }

  private static ByteString composite(ChecksumAlgorithm algorithm, List<PartRow> parts) {
    return switch (algorithm) {
      case CHECKSUM_CRC32 -> crcOfParts(new CRC32(), parts);
      case CHECKSUM_CRC32C -> crcOfParts(new CRC32C(), parts);
      case CHECKSUM_SHA1 -> digestOfParts("SHA-1", parts);
      case CHECKSUM_SHA256 -> digestOfParts("SHA-256", parts);
      case CHECKSUM_CRC64NVME, CHECKSUM_NONE, UNRECOGNIZED ->
          throw new IllegalStateException("uploads never have " + algorithm + " of parts");
    };
  }

  private static ByteString crcOfParts(Checksum crc, List<PartRow> parts) {
    parts.forEach(part -> crc.update(part.getChecksum().getValue().toByteArray()));
    return bytes4(crc.getValue());
  }

  private static ByteString digestOfParts(String name, List<PartRow> parts) {
    try {
      MessageDigest digest = MessageDigest.getInstance(name);
      parts.forEach(part -> digest.update(part.getChecksum().getValue().toByteArray()));
      return ByteString.copyFrom(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has " + name, e);
    }
  }

  private static ByteString bytes4(long crc) {
    return ByteString.copyFrom(ByteBuffer.allocate(4).putInt((int) crc).flip());
  }
}
