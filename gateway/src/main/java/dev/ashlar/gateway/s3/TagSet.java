package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.uri.Query;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.message.Tag;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Tags as S3 permits them, in the order in which they were given. */
public record TagSet(List<Tag> tags) {
  public static final TagSet NONE = new TagSet(List.of());
  public static final int OBJECT_TAGS_MAX = 10;
  public static final int BUCKET_TAGS_MAX = 50;

  static final AsciiString HEADER = AsciiString.cached("x-amz-tagging");
  private static final int KEY_CHARS_MAX = 128;
  private static final int VALUE_CHARS_MAX = 256;
  private static final Pattern TEXT = Pattern.compile("[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*");

  public TagSet {
    tags = List.copyOf(tags);
  }

  public boolean isEmpty() {
    return tags.isEmpty();
  }

  /**
   * The tags of a new object: a header in the form of a query.
   *
   * @throws S3Exception InvalidArgument, InvalidTag
   */
  static TagSet of(HttpHeaders headers) throws S3Exception {
    List<String> values = headers.getAll(HEADER);
    if (values.isEmpty()) {
      return NONE;
    }
    String value = String.join(",", values).trim();
    List<Tag> tags = new ArrayList<>();
    try {
      Query query = Query.parse(values.size() == 1 ? value : "%");
      for (int i = 0; i < query.size(); i++) {
        tags.add(tag(query.name(i), query.value(i)));
      }
    } catch (S3Exception e) {
      throw malformedHeader(value);
    }
    if (keys(tags).size() < tags.size()) {
      throw malformedHeader(value);
    }
    return valid(tags, OBJECT_TAGS_MAX);
  }

  private static S3Exception malformedHeader(String value) {
    return S3Exception.invalidArgument(
        "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters"
            + " without tag name duplicates.",
        HEADER.toString(),
        value);
  }

  /**
   * The tags in a document.
   *
   * @throws S3Exception MalformedXML, InvalidTag
   */
  public static TagSet of(byte[] document, int max) throws S3Exception {
    List<Element> sets = XmlReader.read(document, "Tagging").children();
    if (sets.size() != 1 || !sets.get(0).name().equals("TagSet")) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    List<Tag> tags = new ArrayList<>();
    for (Element tag : sets.get(0).children()) {
      if (!tag.name().equals("Tag") || tag.children().size() != 2) {
        throw new S3Exception(S3Error.MALFORMED_XML);
      }
      tags.add(tag(tag.required("Key"), tag.required("Value")));
    }
    return valid(tags, max);
  }

  private static Tag tag(String key, String value) {
    return Tag.newBuilder().setKey(key).setValue(value).build();
  }

  private static Set<String> keys(List<Tag> tags) {
    Set<String> keys = new HashSet<>();
    tags.forEach(tag -> keys.add(tag.getKey()));
    return keys;
  }

  private static TagSet valid(List<Tag> tags, int max) throws S3Exception {
    for (Tag tag : tags) {
      requireValid(tag);
    }
    if (keys(tags).size() < tags.size()) {
      throw new S3Exception(S3Error.INVALID_TAG, "Cannot provide multiple Tags with the same key");
    }
    if (tags.size() > max) {
      throw new S3Exception(S3Error.INVALID_TAG, "Tags cannot be greater than " + max);
    }
    return new TagSet(tags);
  }

  /** S3 counts UTF-16 code units. */
  private static void requireValid(Tag tag) throws S3Exception {
    String key = tag.getKey();
    if (key.isEmpty() || key.length() > KEY_CHARS_MAX || !TEXT.matcher(key).matches()) {
      throw new S3Exception(S3Error.INVALID_TAG, "The TagKey you have provided is invalid")
          .with("TagKey", key);
    }
    String value = tag.getValue();
    if (value.length() > VALUE_CHARS_MAX || !TEXT.matcher(value).matches()) {
      throw new S3Exception(S3Error.INVALID_TAG, "The TagValue you have provided is invalid")
          .with("TagKey", key)
          .with("TagValue", value);
    }
    if (key.toLowerCase(Locale.ROOT).startsWith("aws:")) {
      throw new S3Exception(S3Error.INVALID_TAG, "System tags cannot be added/updated by requester")
          .with("TagKey", key);
    }
  }

  /** In the order of keys. */
  public byte[] document() {
    XmlWriter xml = new XmlWriter().openRoot("Tagging").open("TagSet");
    for (Tag tag : tags.stream().sorted(Comparator.comparing(Tag::getKey)).toList()) {
      xml.open("Tag").element("Key", tag.getKey()).element("Value", tag.getValue()).close();
    }
    return xml.close().close().toBytes();
  }
}
