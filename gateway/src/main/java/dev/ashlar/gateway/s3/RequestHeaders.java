package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.protocol.message.ObjectAttributes;
import dev.ashlar.protocol.message.Precondition;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Reads the headers that describe objects. */
final class RequestHeaders {
  private static final String META = "x-amz-meta-";
  private static final int USER_METADATA_BYTES_MAX = 2048;
  private static final String DEFAULT_CONTENT_TYPE = "binary/octet-stream";

  /**
   * Headers that are stored with an object and returned with it, or what a reader asks for instead.
   */
  static final Set<String> STORED =
      Set.of(
          "cache-control",
          "content-disposition",
          "content-encoding",
          "content-language",
          "content-type",
          "expires");

  private RequestHeaders() {}

  /** The stored headers and the user metadata of a new object. */
  static ObjectAttributes attributes(HttpHeaders headers) throws S3Exception {
    ObjectAttributes.Builder attributes = ObjectAttributes.newBuilder();
    attributes.putHeaders("content-type", DEFAULT_CONTENT_TYPE);
    int metadataBytes = 0;
    Iterator<Map.Entry<CharSequence, CharSequence>> all = headers.iteratorCharSequence();
    while (all.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = all.next();
      String name = header.getKey().toString().toLowerCase(Locale.ROOT);
      String value = header.getValue().toString();
      if (name.startsWith(META)) {
        String metaName = name.substring(META.length());
        metadataBytes += metaName.length() + value.length();
        attributes.putUserMetadata(metaName, joined(attributes, metaName, value));
      } else if (STORED.contains(name)) {
        store(attributes, name, value);
      } else if (name.equals(RedirectLocation.HEADER)) {
        attributes.putHeaders(name, RedirectLocation.checked(value));
      }
    }
    if (metadataBytes > USER_METADATA_BYTES_MAX) {
      throw new S3Exception(S3Error.METADATA_TOO_LARGE)
          .with("Size", metadataBytes)
          .with("MaxSizeAllowed", USER_METADATA_BYTES_MAX);
    }
    return attributes.build();
  }

  /** A header sent twice is one with both values, as in HTTP. */
  private static String joined(ObjectAttributes.Builder attributes, String name, String value) {
    String before = attributes.getUserMetadataMap().get(name);
    return before == null ? value : before + "," + value;
  }

  private static void store(ObjectAttributes.Builder attributes, String name, String value) {
    String stored = name.equals("content-encoding") ? withoutAwsChunked(value) : value;
    if (!stored.isEmpty()) {
      attributes.putHeaders(name, stored);
    }
  }

  /** aws-chunked belongs to the transfer, not to the object. */
  private static String withoutAwsChunked(String encodings) {
    if (!encodings.toLowerCase(Locale.ROOT).contains("aws-chunked")) {
      return encodings;
    }
    return Arrays.stream(encodings.split(","))
        .map(String::trim)
        .filter(encoding -> !encoding.isEmpty() && !encoding.equalsIgnoreCase("aws-chunked"))
        .collect(Collectors.joining(","));
  }

  /** If-Match or If-None-Match of a write: one ETag or the asterisk. */
  static Precondition writeCondition(HttpHeaders headers) throws S3Exception {
    String ifMatch = headers.get(HttpHeaderNames.IF_MATCH);
    String ifNoneMatch = headers.get(HttpHeaderNames.IF_NONE_MATCH);
    if (ifMatch == null && ifNoneMatch == null) {
      return Precondition.getDefaultInstance();
    }
    if (ifMatch != null && ifNoneMatch != null) {
      throw S3Exception.unsupportedHeader("If-None-Match");
    }
    Precondition.Builder condition = Precondition.newBuilder();
    if (ifMatch != null) {
      condition.setIfMatch(writeEtag(ifMatch));
    }
    if (ifNoneMatch != null) {
      condition.setIfNoneMatch(writeEtag(ifNoneMatch));
    }
    return condition.build();
  }

  /** An empty ETag is one that nothing has, not the absence of a condition. */
  private static String writeEtag(String header) {
    String etag = Etags.unquote(header);
    return etag.isEmpty() ? "\"\"" : etag;
  }

  /** Bodies of new objects and parts come with their length, or in chunks that end. */
  static void requireLengthOrChunks(HttpHeaders headers) throws S3Exception {
    if (!headers.contains(HttpHeaderNames.TRANSFER_ENCODING)) {
      requireContentLength(headers);
    }
  }

  /**
   * Other bodies come with their length, decoded or plain. Whether the payload is in aws-chunked,
   * without which a decoded length says nothing, is known later: {@link S3Request#requireValid}.
   */
  static void requireContentLength(HttpHeaders headers) throws S3Exception {
    if (headers.contains(HttpHeaderNames.CONTENT_LENGTH)
        || headers.contains(AmzHeaderNames.DECODED_CONTENT_LENGTH)) {
      return;
    }
    if (headers.contains(HttpHeaderNames.TRANSFER_ENCODING)) {
      throw S3Exception.unsupportedHeader("Transfer-Encoding");
    }
    throw new S3Exception(S3Error.MISSING_CONTENT_LENGTH);
  }

  /**
   * A value for a header of an answer: its UTF-8 bytes as the characters that HTTP carries.
   *
   * @throws S3Exception InvalidArgument when it would break out of its line
   */
  static String headerValue(String parameter, String value) throws S3Exception {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if ((c < ' ' && c != '\t') || c == 0x7F) {
        throw S3Exception.invalidArgument(
            "Header value cannot be represented using ISO-8859-1.", parameter, value);
      }
    }
    return new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }
}
