package dev.ashlar.gateway.cors;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.xml.XmlReader;
import dev.ashlar.gateway.xml.XmlReader.Element;
import dev.ashlar.gateway.xml.XmlWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The rules of a bucket about pages of other origins. The first that fits counts. */
public record CorsConfiguration(List<CorsRule> rules) {
  /** What requests a rule can be about. */
  public static final List<String> METHODS = List.of("GET", "PUT", "POST", "DELETE", "HEAD");

  private static final String ROOT = "CORSConfiguration";
  private static final int RULES_MAX = 100;
  private static final int DOCUMENT_BYTES_MAX = 64 << 10;
  private static final int ID_CHARS_MAX = 255;
  private static final int DIGITS_MAX = 9;

  public CorsConfiguration {
    rules = List.copyOf(rules);
  }

  /**
   * @throws S3Exception MalformedXML, InvalidRequest, MaxMessageLengthExceeded
   */
  public static CorsConfiguration of(byte[] document) throws S3Exception {
    if (document.length > DOCUMENT_BYTES_MAX) {
      throw new S3Exception(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED);
    }
    List<CorsRule> rules = new ArrayList<>();
    for (Element rule : XmlReader.read(document, ROOT).children()) {
      if (!rule.name().equals("CORSRule")) {
        throw malformed();
      }
      rules.add(rule(rule));
    }
    if (rules.isEmpty()) {
      throw malformed();
    }
    if (rules.size() > RULES_MAX) {
      throw S3Exception.invalidRequest(
          "The number of CORS rules should not exceed allowed limit of 100 rules.");
    }
    CorsConfiguration configuration = new CorsConfiguration(rules);
    // What is kept may be longer: text that was sent as CDATA is escaped.
    if (configuration.document().length > DOCUMENT_BYTES_MAX) {
      throw new S3Exception(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED);
    }
    return configuration;
  }

  private static CorsRule rule(Element rule) throws S3Exception {
    String id = "";
    List<CorsPattern> headers = new ArrayList<>();
    List<String> methods = new ArrayList<>();
    List<CorsPattern> origins = new ArrayList<>();
    List<String> exposed = new ArrayList<>();
    long maxAgeSeconds = -1;
    for (Element element : rule.children()) {
      String text = element.text();
      switch (element.name()) {
        case "ID" -> id = id(text);
        case "AllowedHeader" -> headers.add(pattern("AllowedHeader", text));
        case "AllowedMethod" -> methods.add(method(text));
        case "AllowedOrigin" -> origins.add(pattern("AllowedOrigin", text));
        case "ExposeHeader" -> exposed.add(exposed(text));
        case "MaxAgeSeconds" -> maxAgeSeconds = seconds(text);
        default -> throw malformed();
      }
    }
    if (methods.isEmpty() || origins.isEmpty()) {
      throw malformed();
    }
    return new CorsRule(id, headers, methods, origins, exposed, maxAgeSeconds);
  }

  private static String id(String text) throws S3Exception {
    if (text.length() > ID_CHARS_MAX) {
      throw S3Exception.invalidArgument(
          "ID length should not exceed allowed limit of 255", "ID", text);
    }
    return text;
  }

  private static CorsPattern pattern(String element, String text) throws S3Exception {
    requirePlain(element, text);
    if (!CorsPattern.isOne(text)) {
      throw S3Exception.invalidRequest(
          element + " \"" + text + "\" can not have more than one wildcard.");
    }
    return new CorsPattern(text);
  }

  private static String method(String text) throws S3Exception {
    if (!METHODS.contains(text)) {
      throw S3Exception.invalidRequest(
          "Found unsupported HTTP method in CORS config. Unsupported method is " + text);
    }
    return text;
  }

  private static String exposed(String text) throws S3Exception {
    if (text.indexOf('*') >= 0) {
      throw S3Exception.invalidRequest(
          "ExposeHeader \""
              + text
              + "\" contains wildcard. We currently do not support wildcard for ExposeHeader.");
    }
    requirePlain("ExposeHeader", text);
    return text;
  }

  /** Names and origins have no blanks, and what is answered must not look like several headers. */
  private static void requirePlain(String element, String text) throws S3Exception {
    if (text.isEmpty() || !text.chars().allMatch(c -> c > ' ' && c < 0x7F && c != ',')) {
      throw S3Exception.invalidRequest(element + " \"" + text + "\" contains invalid characters.");
    }
  }

  private static long seconds(String text) throws S3Exception {
    if (!text.trim().matches("[0-9]{1," + DIGITS_MAX + "}")) {
      throw malformed();
    }
    return Long.parseLong(text.trim());
  }

  private static S3Exception malformed() {
    return new S3Exception(S3Error.MALFORMED_XML);
  }

  /** In the form in which S3 answers it. */
  public byte[] document() {
    XmlWriter xml = new XmlWriter().openRoot(ROOT);
    for (CorsRule rule : rules) {
      xml.open("CORSRule");
      if (!rule.id().isEmpty()) {
        xml.element("ID", rule.id());
      }
      rule.headers().forEach(header -> xml.element("AllowedHeader", header.text()));
      rule.methods().forEach(method -> xml.element("AllowedMethod", method));
      rule.origins().forEach(origin -> xml.element("AllowedOrigin", origin.text()));
      rule.exposed().forEach(header -> xml.element("ExposeHeader", header));
      if (rule.maxAgeSeconds() >= 0) {
        xml.element("MaxAgeSeconds", rule.maxAgeSeconds());
      }
      xml.close();
    }
    return xml.close().toBytes();
  }

  /**
   * The headers of the answer to a request from a page; none if it is not allowed.
   *
   * @param origin of the page
   * @param requested headers that a preflight request asks for; none: it is no such request
   */
  public Map<String, String> answer(String origin, String method, List<String> requested) {
    for (CorsRule rule : rules) {
      CorsPattern pattern = rule.origin(origin, method);
      if (pattern != null && rule.allows(requested)) {
        return rule.answer(pattern, origin, requested);
      }
    }
    return Map.of();
  }
}
