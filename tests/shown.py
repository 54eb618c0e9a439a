"""What a browser would make of a page."""

from html.parser import HTMLParser

WITHOUT_END = {"meta", "br", "hr", "img", "link"}


class Shown(HTMLParser):
    """The tags of a page, those left open, and its ids; its text, and the text after each tag."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.ids, self.text, self.after = [], [], [], "", {}
        self.feed(str(page))
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.open += [tag] if tag not in WITHOUT_END else []

    def handle_endtag(self, tag):
        assert tag in WITHOUT_END or self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.tags:
            self.after[self.tags[-1]] = self.after.get(self.tags[-1], "") + data
