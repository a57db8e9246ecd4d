package dev.ashlar.gateway.operation.shared;

import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.message.ChecksumValue;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;

/** The shapes of answers that operations share. */
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

  public static HttpAnswer xml(XmlWriter document) {
    return xml(document.toBytes(), headers());
  }

  public static HttpAnswer xml(byte[] document, HttpHeaders headers) {
    headers.set("Content-Type", "application/xml");
    return new HttpAnswer(200, headers, new HttpAnswer.Bytes(document));
  }

  /** Names a stored checksum; nothing when there is none. */
  public static void addChecksum(HttpHeaders headers, ChecksumValue checksum, boolean withType) {
    if (!Checksums.isPresent(checksum)) {
      return;
    }
    headers.set(Checksums.header(checksum.getAlgorithm()), Checksums.text(checksum));
    if (withType) {
      headers.set("x-amz-checksum-type", Checksums.typeName(checksum.getType()));
    }
  }

  public static void writeChecksum(XmlWriter xml, ChecksumValue checksum, boolean withType) {
    if (!Checksums.isPresent(checksum)) {
      return;
    }
    xml.element(Checksums.element(checksum.getAlgorithm()), Checksums.text(checksum));
    if (withType) {
      xml.element("ChecksumType", Checksums.typeName(checksum.getType()));
    }
  }
}
