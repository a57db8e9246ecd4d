package dev.ashlar.gateway.encryption;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.google.protobuf.ByteString;
import dev.ashlar.gateway.error.S3Exception;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;

/** The encryption context of SSE-KMS: pairs of texts that the data key is bound to. */
final class EncryptionContext {
  /** As with AWS KMS. */
  private static final int BYTES_MAX = 8192;

  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private EncryptionContext() {}

  /**
   * @param header JSON in Base64
   * @return JSON whose members are sorted, so that equal contexts are equal bytes; empty: no pairs
   */
  static ByteString parse(String header) throws S3Exception {
    byte[] json;
    try {
      json = Base64.getDecoder().decode(header.trim());
    } catch (IllegalArgumentException e) {
      throw invalid(header);
    }
    if (json.length > BYTES_MAX) {
      throw invalid(header);
    }
    try (JsonParser parser = JSON.createParser(json)) {
      Map<String, String> pairs = pairs(parser, header);
      return pairs.isEmpty() ? ByteString.EMPTY : ByteString.copyFrom(written(pairs));
    } catch (IOException e) {
      throw invalid(header);
    }
  }

  private static Map<String, String> pairs(JsonParser parser, String header)
      throws IOException, S3Exception {
    Map<String, String> pairs = new TreeMap<>();
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      throw invalid(header);
    }
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      if (parser.nextToken() != JsonToken.VALUE_STRING) {
        throw invalid(header);
      }
      pairs.put(name, parser.getText());
    }
    if (parser.currentToken() != JsonToken.END_OBJECT || parser.nextToken() != null) {
      throw invalid(header);
    }
    return pairs;
  }

  private static byte[] written(Map<String, String> pairs) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      for (Map.Entry<String, String> pair : pairs.entrySet()) {
        json.writeStringField(pair.getKey(), pair.getValue());
      }
      json.writeEndObject();
    }
    return bytes.toByteArray();
  }

  private static S3Exception invalid(String header) {
    return S3Exception.invalidArgument(
        "The encryption context is not a JSON object of strings in Base64.",
        EncryptionFields.CONTEXT.toString(),
        header);
  }
}
