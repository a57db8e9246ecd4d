package dev.ashlar.gateway.lifecycle;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.protocol.message.Tag;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads which versions a rule is about. */
final class LifecycleFilters {
  private static final int PREFIX_BYTES_MAX = 1024;
  private static final int TAG_KEY_CHARS_MAX = 128;
  private static final int TAG_VALUE_CHARS_MAX = 256;

  /** No object has more tags. */
  private static final int TAGS_MAX = 10;

  private static final Set<String> CONDITIONS =
      Set.of("Prefix", "Tag", "ObjectSizeGreaterThan", "ObjectSizeLessThan");

  private LifecycleFilters() {}

  /**
   * The filter of a rule, or its prefix.
   *
   * @throws S3Exception MalformedXML unless it has exactly one of both
   */
  static LifecycleFilter read(Element rule) throws S3Exception {
    Element prefix = rule.child("Prefix");
    Element filter = rule.child("Filter");
    if (prefix != null && filter == null) {
      return new LifecycleFilter(true, prefix(prefix), List.of(), -1, -1);
    }
    if (prefix != null || filter == null) {
      throw malformed();
    }
    Element and = filter.child("And");
    if (and == null) {
      return conditions(filter); // several without an And, as some clients send them, mean the same
    }
    if (filter.children().size() > 1) {
      throw malformed();
    }
    LifecycleFilter all = conditions(and);
    if (all.conditions() < 2) {
      throw malformed();
    }
    return all;
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_XML);
  }

  private static LifecycleFilter conditions(Element element) throws S3Exception {
    String prefix = null;
    List<Tag> tags = new ArrayList<>();
    long above = -1;
    long below = -1;
    Set<String> seen = new HashSet<>();
    for (Element child : element.children()) {
      boolean isAgain = !seen.add(child.name());
      if (!CONDITIONS.contains(child.name()) || (isAgain && !child.name().equals("Tag"))) {
        throw malformed();
      }
      switch (child.name()) {
        case "Prefix" -> prefix = prefix(child);
        case "Tag" -> tags.add(tag(child));
        case "ObjectSizeGreaterThan" -> above = size(child);
        default -> below = size(child);
      }
    }
    requireDistinct(tags);
    if (above >= 0 && below >= 0 && below <= above + 1) {
      throw S3Exception.invalidRequest(
          "'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'");
    }
    return new LifecycleFilter(false, prefix, tags, above, below);
  }

  private static String prefix(Element element) throws S3Exception {
    String prefix = leaf(element);
    if (prefix.getBytes(StandardCharsets.UTF_8).length > PREFIX_BYTES_MAX) {
      throw S3Exception.invalidRequest("The maximum size of a prefix is " + PREFIX_BYTES_MAX);
    }
    return prefix;
  }

  private static String leaf(Element element) throws S3Exception {
    if (!element.children().isEmpty()) {
      throw malformed();
    }
    return element.text();
  }

  private static long size(Element element) throws S3Exception {
    String text = leaf(element);
    long size = LifecycleFields.number(text);
    if (size < 0 || (size == 0 && element.name().equals("ObjectSizeLessThan"))) {
      throw S3Exception.invalidArgument(
          "'%s' must be a positive integer".formatted(element.name()), element.name(), text.trim());
    }
    return size;
  }

  private static Tag tag(Element element) throws S3Exception {
    LifecycleFields.require(element, Set.of("Key", "Value"));
    String key = element.required("Key");
    String value = element.required("Value");
    if (key.isEmpty() || key.length() > TAG_KEY_CHARS_MAX) {
      throw new S3Exception(S3Error.INVALID_TAG, "The TagKey you have provided is invalid")
          .with("TagKey", key);
    }
    if (value.length() > TAG_VALUE_CHARS_MAX) {
      throw new S3Exception(S3Error.INVALID_TAG, "The TagValue you have provided is invalid")
          .with("TagKey", key);
    }
    return Tag.newBuilder().setKey(key).setValue(value).build();
  }

  private static void requireDistinct(List<Tag> tags) throws S3Exception {
    if (tags.stream().map(Tag::getKey).distinct().count() < tags.size()) {
      throw S3Exception.invalidRequest("Duplicate Tag Keys are not allowed.");
    }
    if (tags.size() > TAGS_MAX) {
      throw S3Exception.invalidRequest("A filter has at most " + TAGS_MAX + " tags.");
    }
  }
}
