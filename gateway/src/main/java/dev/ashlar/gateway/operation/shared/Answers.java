package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.access.AccessControl.Permit;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.s3.Etags;
import dev.ashlar.gateway.version.VersionId;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.CommandResult;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;

/** Builds answers. */
public final class Answers {
  private Answers() {}

  public static HttpHeaders headers() {
    return new DefaultHttpHeaders();
  }

  public static HttpAnswer empty(int status) {
    return empty(status, headers());
  }

  public static HttpAnswer empty(int status, HttpHeaders headers) {
    return new HttpAnswer(status, headers, new HttpAnswer.Empty());
  }

  /** The answer to a request that stored its body. */
  public static HttpAnswer stored(String etag, ChecksumValue checksum, boolean withType) {
    HttpHeaders headers = headers().set("ETag", Etags.quote(etag));
    addChecksum(headers, checksum, withType);
    return empty(200, headers);
  }

  /** Names the version that an answer is about, where its bucket keeps versions. */
  public static void addVersion(HttpHeaders headers, Permit permit) {
    String id = VersionId.of(permit.object().object(), permit.bucket());
    if (id != null) {
      headers.set(VersionId.HEADER, id);
    }
  }

  /** Names the version that was made. Where versions get no ids, S3 names none. */
  public static void addVersion(HttpHeaders headers, CommandResult written) {
    if (written.getVersioned()) {
      headers.set(VersionId.HEADER, VersionId.of(written.getVersion(), true));
    }
  }

  /** Says so where the requester pays. */
  public static void addCharge(HttpHeaders headers, Permit permit) {
    if (permit.isCharged()) {
      headers.set("x-amz-request-charged", "requester");
    }
  }

  public static HttpAnswer xml(XmlWriter document) {
    return xml(document.toBytes(), headers());
  }

  public static HttpAnswer xml(byte[] document, HttpHeaders headers) {
    headers.set("Content-Type", "application/xml");
    return new HttpAnswer(200, headers, new HttpAnswer.Bytes(document));
  }

  /** Adds the headers of a stored checksum, if there is one. */
  public static void addChecksum(HttpHeaders headers, ChecksumValue checksum, boolean withType) {
    if (!Checksums.isPresent(checksum)) {
      return;
    }
    headers.set(ChecksumKind.of(checksum.getAlgorithm()).header(), Checksums.text(checksum));
    if (withType) {
      headers.set("x-amz-checksum-type", Checksums.typeName(checksum.getType()));
    }
  }

  /** Writes which checksum an object has or will have, if any. */
  public static void writeChecksumAlgorithm(
      XmlWriter xml, ChecksumAlgorithm algorithm, ChecksumType type) {
    if (algorithm != ChecksumAlgorithm.CHECKSUM_NONE) {
      xml.element("ChecksumAlgorithm", ChecksumKind.of(algorithm).name())
          .element("ChecksumType", Checksums.typeName(type));
    }
  }

  public static void writeChecksum(XmlWriter xml, ChecksumValue checksum, boolean withType) {
    if (!Checksums.isPresent(checksum)) {
      return;
    }
    xml.element(ChecksumKind.of(checksum.getAlgorithm()).element(), Checksums.text(checksum));
    if (withType) {
      xml.element("ChecksumType", Checksums.typeName(checksum.getType()));
    }
  }
}
