package dev.ashlar.bench.chart;

import dev.ashlar.bench.process.BenchException;
import java.awt.Dimension;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.font.FontRenderContext;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Base64;
import java.util.List;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.apache.batik.svggen.SVGGraphics2D;
import org.knowm.xchart.internal.chartpart.Chart;
import org.w3c.dom.Document;

/**
 * One HTML file that needs no other: its charts are inside, and each shows itself light or dark as
 * the reader's system is set.
 */
public final class Page {
  private static final String STYLE =
      """
      :root { color-scheme: light dark; --ground: #fff; --text: #222; --line: #d9d9d9; }
      @media (prefers-color-scheme: dark) {
        :root { --ground: #16181d; --text: #e6e6e6; --line: #3a3f47; }
      }
      body { background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
             max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
      figure { margin: 2.5rem 0; }
      img { width: 100%; height: auto; }
      .wide { overflow-x: auto; }
      table { border-collapse: collapse; font-size: 14px; }
      th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: right; }
      th:first-child, td:first-child { text-align: left; }
      """;

  private static final int PIXELS_PER_POINT = 2;

  private final Path folder;
  private final StringBuilder body = new StringBuilder();

  /**
   * @param folder where its charts are written too
   */
  public Page(Path folder) {
    this.folder = folder;
  }

  /**
   * Called before anything is measured: small servers often cannot draw letters.
   *
   * @throws BenchException when this machine has no fonts
   */
  public static void checkFonts() {
    try {
      new Font(Font.SANS_SERIF, Font.PLAIN, 12)
          .createGlyphVector(new FontRenderContext(null, true, true), "op/s");
    } catch (RuntimeException | LinkageError | InternalError e) {
      // What the virtual machine throws depends on what is missing.
      throw new BenchException(
          "Charts need fonts, and Java finds none ("
              + e.getMessage()
              + "). On Debian and Ubuntu: apt-get install fontconfig fonts-dejavu-core",
          e);
    }
  }

  public void paragraph(String text) {
    body.append("<p>").append(escaped(text)).append("</p>\n");
  }

  public void heading(String text) {
    body.append("<h2>").append(escaped(text)).append("</h2>\n");
  }

  /** Draws it into files of its own and into the page. */
  public void figure(Figure figure) throws IOException {
    body.append("<figure><picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"")
        .append(url(write(figure, Theme.DARK)))
        .append("\"><img alt=\"")
        .append(escaped(figure.title()))
        .append("\" src=\"")
        .append(url(write(figure, Theme.LIGHT)))
        .append("\"></picture><figcaption>")
        .append(escaped(figure.caption()))
        .append("</figcaption></figure>\n");
  }

  /** Writes new files PNG and SVG, named after the figure, and returns the SVG. */
  private String write(Figure figure, Theme theme) throws IOException {
    String name = figure.name() + "-" + theme.suffix();
    Path png = folder.resolve(name + ".png");
    // A chart is drawn once: painting leaves traces in it.
    try (var out = Files.newOutputStream(png, StandardOpenOption.CREATE_NEW)) {
      ImageIO.write(image(new Painter(theme).chart(figure)), "png", out);
    }
    String svg = svg(new Painter(theme).chart(figure));
    Files.writeString(folder.resolve(name + ".svg"), svg, StandardOpenOption.CREATE_NEW);
    return svg;
  }

  private static BufferedImage image(Chart<?, ?> chart) {
    int width = Painter.WIDTH * PIXELS_PER_POINT;
    int height = Painter.HEIGHT * PIXELS_PER_POINT;
    BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.scale(PIXELS_PER_POINT, PIXELS_PER_POINT);
    chart.paint(graphics, Painter.WIDTH, Painter.HEIGHT);
    graphics.dispose();
    return image;
  }

  private static String svg(Chart<?, ?> chart) throws IOException {
    SVGGraphics2D graphics = new SVGGraphics2D(document());
    graphics.setSVGCanvasSize(new Dimension(Painter.WIDTH, Painter.HEIGHT));
    chart.paint(graphics, Painter.WIDTH, Painter.HEIGHT);
    StringWriter text = new StringWriter();
    graphics.stream(text, true);
    return text.toString();
  }

  private static Document document() {
    try {
      return DocumentBuilderFactory.newInstance()
          .newDocumentBuilder()
          .getDOMImplementation()
          .createDocument("http://www.w3.org/2000/svg", "svg", null);
    } catch (ParserConfigurationException e) {
      throw new IllegalStateException(e);
    }
  }

  public void table(List<String> head, List<List<String>> rows) {
    body.append("<div class=\"wide\"><table><thead>");
    row("th", head);
    body.append("</thead><tbody>");
    rows.forEach(row -> row("td", row));
    body.append("</tbody></table></div>\n");
  }

  private void row(String tag, List<String> cells) {
    body.append("<tr>");
    for (String cell : cells) {
      body.append('<').append(tag).append('>').append(escaped(cell));
      body.append("</").append(tag).append('>');
    }
    body.append("</tr>\n");
  }

  /** Writes {@code index.html}, which must not be there yet. */
  public Path write(String title) throws IOException {
    String html =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            + "<meta name=\"viewport\" content=\"width=device-width\">\n<title>"
            + escaped(title)
            + "</title>\n<style>\n"
            + STYLE
            + "</style></head><body>\n<h1>"
            + escaped(title)
            + "</h1>\n"
            + body
            + "</body></html>\n";
    return Files.writeString(folder.resolve("index.html"), html, StandardOpenOption.CREATE_NEW);
  }

  private static String url(String svg) {
    return "data:image/svg+xml;base64,"
        + Base64.getEncoder().encodeToString(svg.getBytes(StandardCharsets.UTF_8));
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }
}
