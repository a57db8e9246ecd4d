package dev.ashlar.gateway.access.policy.document;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A value of a policy document. There is no null: a document that has one is refused. */
public sealed interface Element {
  int QUOTED_CHARACTERS_MAX = 80;

  /** A JSON object. The order of members is that of the document. */
  record Members(Location location, Map<String, Element> byName) implements Element {
    public @Nullable Element get(String name) {
      return byName.get(name);
    }

    public void requireOnly(Set<String> names) throws MalformedPolicyException {
      for (String name : byName.keySet()) {
        if (!names.contains(name)) {
          throw malformed("has an unknown element " + quote(name));
        }
      }
    }
  }

  /** A JSON array. */
  record Items(Location location, List<Element> elements) implements Element {}

  /**
   * A string, number or boolean.
   *
   * @param text a number as it is written: it is not converted, however long it is
   */
  record Scalar(Location location, String text, boolean isString) implements Element {
    /** An error that quotes this value before the reason. */
    public MalformedPolicyException malformedValue(String reason) {
      return malformed(quote(text) + " " + reason);
    }
  }

  Location location();

  default MalformedPolicyException malformed(String reason) {
    return new MalformedPolicyException(location() + ": " + reason);
  }

  default Members members() throws MalformedPolicyException {
    if (this instanceof Members members) {
      return members;
    }
    throw malformed("has to be an object");
  }

  default Scalar scalar() throws MalformedPolicyException {
    if (this instanceof Scalar scalar) {
      return scalar;
    }
    throw malformed("has to be a single value");
  }

  default Scalar string() throws MalformedPolicyException {
    if (this instanceof Scalar scalar && scalar.isString) {
      return scalar;
    }
    throw malformed("has to be a string");
  }

  /** The elements of a list that is not empty, or this element alone. */
  default List<Element> oneOrMore() throws MalformedPolicyException {
    if (!(this instanceof Items items)) {
      return List.of(this);
    }
    if (items.elements.isEmpty()) {
      throw malformed("must not be an empty list");
    }
    return items.elements;
  }

  /** One string or several. */
  default List<Scalar> strings() throws MalformedPolicyException {
    List<Scalar> strings = new ArrayList<>();
    for (Element element : oneOrMore()) {
      strings.add(element.string());
    }
    return strings;
  }

  /** A text of the client for use in an error message. */
  static String quote(String text) {
    return "'" + Quoted.shorten(text, QUOTED_CHARACTERS_MAX) + "'";
  }
}
