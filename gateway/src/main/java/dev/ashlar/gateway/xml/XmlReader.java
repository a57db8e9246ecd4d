package dev.ashlar.gateway.xml;

import com.ctc.wstx.api.WstxInputProperties;
import com.ctc.wstx.stax.WstxInputFactory;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.codehaus.stax2.XMLInputFactory2;
import org.jspecify.annotations.Nullable;

/**
 * Reads the small documents that clients send into a tree of names and texts. No DTD, no entities
 * but the five of XML, bounded in every direction; whatever is wrong is MalformedXML.
 */
public final class XmlReader {
  private static final int DEPTH_MAX = 16;
  private static final int ELEMENTS_MAX = 200_000;
  private static final int TEXT_MAX = 64 * 1024;
  private static final XMLInputFactory FACTORY = hardenedFactory();

  private XmlReader() {}

  /** An element: its local name, its children, and its text when it has no children. */
  public record Element(String name, List<Element> children, String text) {
    public @Nullable Element child(String childName) {
      for (Element child : children) {
        if (child.name.equals(childName)) {
          return child;
        }
      }
      return null;
    }

    public @Nullable String childText(String childName) {
      Element child = child(childName);
      return child == null ? null : child.text;
    }

    /** The text of a child that has to be there. */
    public String required(String childName) throws S3Exception {
      String text = childText(childName);
      if (text == null) {
        throw new S3Exception(S3Error.MALFORMED_XML);
      }
      return text;
    }
  }

  /** The root of the document, which has to have this name. */
  public static Element read(byte[] document, String rootName) throws S3Exception {
    try {
      XMLStreamReader reader =
          FACTORY.createXMLStreamReader(new ByteArrayInputStream(document), "UTF-8");
      try {
        return readRoot(reader, rootName);
      } finally {
        reader.close();
      }
    } catch (XMLStreamException e) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
  }

  private static Element readRoot(XMLStreamReader reader, String rootName)
      throws XMLStreamException, S3Exception {
    Element root = null;
    while (reader.hasNext()) {
      int event = reader.next();
      if (event == XMLStreamConstants.DTD) {
        throw new S3Exception(S3Error.MALFORMED_XML);
      }
      if (event == XMLStreamConstants.START_ELEMENT) {
        root = readElement(reader);
      }
    }
    if (root == null || !root.name.equals(rootName)) {
      throw new S3Exception(S3Error.MALFORMED_XML);
    }
    return root;
  }

  // Recursion is bounded by the depth that the factory allows.
  private static Element readElement(XMLStreamReader reader)
      throws XMLStreamException, S3Exception {
    String name = reader.getLocalName();
    List<Element> children = new ArrayList<>(2);
    StringBuilder text = new StringBuilder();
    while (true) {
      switch (reader.next()) {
        case XMLStreamConstants.START_ELEMENT -> children.add(readElement(reader));
        case XMLStreamConstants.END_ELEMENT -> {
          return new Element(name, children, children.isEmpty() ? text.toString() : "");
        }
        case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA ->
            text.append(reader.getText());
        case XMLStreamConstants.ENTITY_REFERENCE -> throw new S3Exception(S3Error.MALFORMED_XML);
        default -> {
          // Comments and processing instructions say nothing.
        }
      }
    }
  }

  private static XMLInputFactory hardenedFactory() {
    XMLInputFactory factory = new WstxInputFactory();
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
    factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
    factory.setProperty(XMLInputFactory.IS_REPLACING_ENTITY_REFERENCES, true);
    factory.setProperty(XMLInputFactory.IS_VALIDATING, false);
    factory.setProperty(XMLInputFactory.IS_COALESCING, false);
    // Lazily, what is malformed would be told where nobody expects an error.
    factory.setProperty(XMLInputFactory2.P_LAZY_PARSING, false);
    factory.setProperty(WstxInputProperties.P_MAX_ELEMENT_DEPTH, DEPTH_MAX);
    factory.setProperty(WstxInputProperties.P_MAX_ELEMENT_COUNT, (long) ELEMENTS_MAX);
    factory.setProperty(WstxInputProperties.P_MAX_ATTRIBUTES_PER_ELEMENT, 16);
    factory.setProperty(WstxInputProperties.P_MAX_ATTRIBUTE_SIZE, 1024);
    factory.setProperty(WstxInputProperties.P_MAX_TEXT_LENGTH, TEXT_MAX);
    factory.setProperty(WstxInputProperties.P_MAX_ENTITY_COUNT, 1);
    return factory;
  }
}
