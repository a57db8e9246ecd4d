package dev.ashlar.gateway.operation.multipart;

import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.PartRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parts that a CompleteMultipartUpload names, in ascending order. */
record PartList(List<Part> parts) {
  private static final int PARTS_MAX = 10_000;
  private static final long PART_BYTES_MIN = 5L << 20;

  /**
   * A part as the client describes it.
   *
   * @param checksum the text of the checksum it names, or null
   */
  record Part(int number, String etag, ChecksumAlgorithm algorithm, @Nullable String checksum) {}

  static PartList parse(byte[] document) throws S3Exception {
    List<Part> parts = new ArrayList<>();
    for (Element child : XmlReader.read(document, "CompleteMultipartUpload").children()) {
      if (child.name().equals("Part")) {
        parts.add(part(child));
      }
    }
    if (parts.isEmpty() || parts.size() > PARTS_MAX) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    return new PartList(ascending(parts));
  }

  /** Of a part that is named several times in a row, which was sent again, the last counts. */
  private static List<Part> ascending(List<Part> named) throws S3Exception {
    List<Part> parts = new ArrayList<>(named.size());
    int before = 0;
    for (Part part : named) {
      if (part.number < before) {
        throw new S3Exception(S3Error.INVALID_PART_ORDER);
      }
      if (part.number == before) {
        parts.removeLast();
      }
      parts.add(part);
      before = part.number;
    }
    return parts;
  }

  private static Part part(Element element) throws S3Exception {
    int number;
    try {
      number = Integer.parseInt(element.required("PartNumber").trim());
    } catch (NumberFormatException e) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    if (number < 1 || number > PARTS_MAX) {
      throw S3Exception.invalidArgument(
          "PartNumber must be >= 1 and <= 10000", "PartNumber", Integer.toString(number));
    }
    String etag = Etags.unquote(element.required("ETag"));
    for (ChecksumKind kind : ChecksumKind.ALL) {
      String checksum = element.childText(kind.element());
      if (checksum != null) {
        return new Part(number, etag, kind.algorithm(), checksum.trim());
      }
    }
    return new Part(number, etag, ChecksumAlgorithm.CHECKSUM_NONE, null);
  }

  List<String> etags() {
    return parts.stream().map(Part::etag).toList();
  }

  /** Whether all ETags have the form that parts have here. */
  boolean areMd5s() {
    return parts.stream().allMatch(part -> isMd5(part.etag));
  }

  /** Not that of a multipart object, nor of one that was changed. */
  static boolean isMd5(String etag) {
    return etag.length() == 32
        && etag.chars().allMatch(c -> Character.digit(c, 16) >= 0 && c < 128);
  }

  /** The rows of these parts, in order; the errors S3 gives when they do not match. */
  List<PartRow> select(List<PartRow> stored, String uploadId) throws S3Exception {
    Map<Integer, PartRow> byNumber = new HashMap<>();
    stored.forEach(row -> byNumber.put(row.getNumber(), row));
    List<PartRow> selected = new ArrayList<>(parts.size());
    for (Part part : parts) {
      PartRow row = byNumber.get(part.number);
      if (row == null || !row.getEtag().equals(part.etag) || !hasChecksum(row, part)) {
        throw new S3Exception(S3Error.INVALID_PART)
            .with("UploadId", uploadId)
            .with("PartNumber", part.number)
            .with("ETag", part.etag);
      }
      selected.add(row);
    }
    for (PartRow row : selected.subList(0, selected.size() - 1)) {
      requireBigEnough(row);
    }
    return selected;
  }

  private static boolean hasChecksum(PartRow row, Part part) {
    return part.checksum == null
        || (row.getChecksum().getAlgorithm() == part.algorithm
            && Checksums.text(row.getChecksum()).equals(part.checksum));
  }

  /** Any part but the last. */
  private static void requireBigEnough(PartRow row) throws S3Exception {
    if (row.getSize() < PART_BYTES_MIN) {
      throw new S3Exception(S3Error.ENTITY_TOO_SMALL)
          .with("ProposedSize", row.getSize())
          .with("MinSizeAllowed", PART_BYTES_MIN)
          .with("PartNumber", row.getNumber())
          .with("ETag", row.getEtag());
    }
  }
}
