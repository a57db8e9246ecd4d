package dev.ashlar.gateway.access.policy.document;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads JSON strictly: no duplicate names, no null, nothing after the document, no malformed UTF-8
 * or UTF-16, and a bounded depth, which also bounds the recursion here. The caller bounds the size.
 */
public final class DocumentReader {
  /** A policy needs six levels: document, statements, statement, conditions, operator, values. */
  private static final int DEPTH_MAX = 8;

  /** Names of clients are not canonicalised: that table would be shared by all documents. */
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(DEPTH_MAX).build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
          .build();

  private DocumentReader() {}

  /** The text of a document in UTF-8. */
  public static String decode(byte[] document) throws MalformedPolicyException {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(document)).toString();
    } catch (CharacterCodingException e) {
      throw new MalformedPolicyException("document: is not UTF-8");
    }
  }

  public static Element read(String document) throws MalformedPolicyException {
    try (JsonParser parser = FACTORY.createParser(document)) {
      if (parser.nextToken() == null) {
        throw new MalformedPolicyException("document: is empty");
      }
      Element root = read(parser, Location.ROOT);
      if (parser.nextToken() != null) {
        throw new MalformedPolicyException("document: has something after its end");
      }
      return root;
    } catch (JsonProcessingException e) {
      throw new MalformedPolicyException(
          "document: is not valid JSON: " + Quoted.shorten(e.getOriginalMessage(), 200));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // a text in memory has no I/O
    }
  }

  private static Element read(JsonParser parser, Location at)
      throws IOException, MalformedPolicyException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> readMembers(parser, at);
      case START_ARRAY -> readItems(parser, at);
      case VALUE_STRING -> new Element.Scalar(at, wellFormed(parser.getText(), at), true);
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT, VALUE_TRUE, VALUE_FALSE ->
          new Element.Scalar(at, parser.getText(), false);
      case VALUE_NULL -> throw new MalformedPolicyException(at + ": must not be null");
      default -> throw new MalformedPolicyException(at + ": is not a value");
    };
  }

  private static Element readMembers(JsonParser parser, Location at)
      throws IOException, MalformedPolicyException {
    Map<String, Element> members = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = wellFormed(parser.currentName(), at);
      parser.nextToken();
      members.put(name, read(parser, at.member(name)));
    }
    return new Element.Members(at, members);
  }

  private static Element readItems(JsonParser parser, Location at)
      throws IOException, MalformedPolicyException {
    List<Element> items = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      items.add(read(parser, at.item(items.size())));
    }
    return new Element.Items(at, items);
  }

  /** JSON escapes can form a half of a surrogate pair, which no key or name can contain. */
  private static String wellFormed(String text, Location at) throws MalformedPolicyException {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        boolean isPair =
            i + 1 < text.length() && Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1));
        if (!isPair) {
          throw new MalformedPolicyException(at + ": has a half of a surrogate pair");
        }
        i++;
      }
    }
    return text;
  }
}
